//! Queries cut from the corpus: what people who know it might type.

use super::{Corpus, CorpusPassage, Probe};
use crate::random::Rng;

/// Longest title or sentence to take as a query, in words.
const MAX_WORDS: usize = 18;
/// Most of a passage looked at: the beginning is as good a place to cut from as any.
const MAX_CHARS: usize = 4000;
/// Draws per query wanted before giving up on a corpus of empty or tiny passages.
const ATTEMPTS: usize = 8;

/// How to cut a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Title,
    Sentence,
    /// So many consecutive content words.
    Words(usize),
}

/// A known-item query and what it was cut from.
#[derive(Debug, Clone)]
pub(super) struct KnownItem {
    pub(super) probe: Probe,
    pub(super) passage: usize,
    pub(super) document: usize,
    /// A title stands for its document: any passage of it is what was wanted.
    pub(super) any_of_document: bool,
}

/// P: queries of the corpus with their own passage left out.
pub(super) fn in_corpus(corpus: &dyn Corpus, count: usize, rng: &mut Rng) -> Vec<Probe> {
    draw(corpus, count, rng, |n, rng| match n % 3 {
        0 => Cut::Title,
        1 => Cut::Sentence,
        _ => Cut::Words(2 + rng.below(5)),
    })
    .into_iter()
    .map(|item| Probe { leave_out: Some(item.passage), ..item.probe })
    .collect()
}

/// K: queries of the corpus, from hopelessly short to exact, whose passage should be found.
pub(super) fn known_items(corpus: &dyn Corpus, count: usize, rng: &mut Rng) -> Vec<KnownItem> {
    let cuts = [
        Cut::Words(1),
        Cut::Words(1),
        Cut::Words(2),
        Cut::Words(2),
        Cut::Words(3),
        Cut::Words(4),
        Cut::Words(6),
        Cut::Words(10),
        Cut::Title,
        Cut::Sentence,
    ];
    draw(corpus, count, rng, |n, _| cuts.get(n % cuts.len()).copied().unwrap_or(Cut::Title))
}

fn draw(
    corpus: &dyn Corpus,
    count: usize,
    rng: &mut Rng,
    cut_of: impl Fn(usize, &mut Rng) -> Cut,
) -> Vec<KnownItem> {
    let mut items = Vec::with_capacity(count);
    for _ in 0..count.saturating_mul(ATTEMPTS) {
        if items.len() == count {
            break;
        }
        let n = rng.below(corpus.passages());
        let Some(passage) = corpus.passage(n) else { continue };
        let cut = cut_of(items.len(), rng);
        // A passage too poor for the cut wanted gives what it has, so that rare cuts do not
        // filter the corpus down to its long passages.
        let Some(query) = take(corpus, &passage, cut, rng) else { continue };
        items.push(KnownItem {
            probe: Probe { query, leave_out: None },
            passage: n,
            document: passage.document,
            any_of_document: cut == Cut::Title,
        });
    }
    items
}

fn take(corpus: &dyn Corpus, passage: &CorpusPassage, cut: Cut, rng: &mut Rng) -> Option<String> {
    let text: String = passage.text.chars().take(MAX_CHARS).collect();
    match cut {
        Cut::Title => {
            let title: Vec<&str> = passage.title.split_whitespace().take(MAX_WORDS).collect();
            (!title.is_empty()).then(|| title.join(" "))
        }
        Cut::Sentence => {
            let sentences: Vec<Vec<&str>> = sentences(&text).collect();
            let pick = rng.below(sentences.len());
            sentences.get(pick).map(|words| words.join(" "))
        }
        Cut::Words(count) => {
            let words = corpus.content_words(&text);
            let start = rng.below((words.len() + 1).saturating_sub(count));
            let run: Vec<String> = words.into_iter().skip(start).take(count).collect();
            (!run.is_empty()).then(|| run.join(" "))
        }
    }
}

/// Fewest words that make a sentence rather than a heading or a cell.
const MIN_WORDS: usize = 4;

/// Sentences, each cut to its first [`MAX_WORDS`] words.
fn sentences(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.split(['\n', '。', '！', '？'])
        .flat_map(|line| line.split_inclusive(". "))
        .flat_map(|part| part.split_inclusive("? "))
        .map(|sentence| sentence.split_whitespace().take(MAX_WORDS).collect::<Vec<_>>())
        .filter(|words| words.len() >= MIN_WORDS)
}
