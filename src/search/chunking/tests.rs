use proptest::prelude::*;

use super::*;

#[test]
fn limits_follow_what_the_embedding_reads() {
    assert_eq!(Limits::reading(256), Limits::default());
    assert_eq!(Limits::reading(512), Limits { target: 372, max: 496, min: 82 });
    assert!(Limits::reading(0).max > 0);
}

/// A token a word: budgets can then be worked out by hand.
fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn block(headings: &[&str], kind: BlockKind, text: &str) -> Block {
    Block { headings: headings.iter().map(|h| (*h).to_owned()).collect(), kind, text: text.to_owned() }
}

fn document(blocks: Vec<Block>) -> Document {
    Document { id: "d".into(), title: "Title".into(), url: None, blocks }
}

fn prose(words: usize, word: &str) -> String {
    vec![word; words].join(" ")
}

const LIMITS: Limits = Limits { target: 30, max: 40, min: 5 };

fn cut(blocks: Vec<Block>) -> Vec<Chunk> {
    chunk(&document(blocks), &LIMITS, &words)
}

#[test]
fn a_document_that_fits_is_one_passage_with_its_headings_kept() {
    let chunks = cut(vec![
        block(&["A"], BlockKind::Prose, "one two three four five six"),
        block(&["B"], BlockKind::Prose, "seven eight nine ten eleven twelve"),
    ]);
    assert_eq!(
        chunks,
        [Chunk {
            headings: vec![],
            text: "A\none two three four five six\nB\nseven eight nine ten eleven twelve".into()
        }]
    );
}

#[test]
fn sections_are_not_mixed_and_paragraphs_of_one_are_packed() {
    let chunks = cut(vec![
        block(&["A"], BlockKind::Prose, &prose(10, "a")),
        block(&["A"], BlockKind::Prose, &prose(12, "b")),
        block(&["A"], BlockKind::Prose, &prose(12, "c")),
        block(&["B"], BlockKind::Prose, &prose(10, "d")),
    ]);
    let texts: Vec<String> = chunks.iter().map(|chunk| chunk.text.replace("\n\n", "|")).collect();
    assert_eq!(texts, [format!("{}|{}", prose(10, "a"), prose(12, "b")), prose(12, "c"), prose(10, "d")]);
    assert_eq!(chunks[2].headings, ["B"]);
}

#[test]
fn a_tiny_section_joins_the_next_under_the_same_parent() {
    let chunks = cut(vec![
        block(&["P", "A"], BlockKind::Prose, "tiny one"),
        block(&["P", "B"], BlockKind::Prose, &prose(20, "b")),
        block(&["Q"], BlockKind::Prose, &prose(30, "c")),
    ]);
    assert_eq!(chunks[0].headings, ["P"]);
    assert_eq!(chunks[0].text, format!("A\ntiny one\nB\n{}", prose(20, "b")));
    assert_eq!(chunks.len(), 2);
}

#[test]
fn long_prose_is_cut_between_sentences() {
    let sentence = |w: &str| format!("Now {} end. ", prose(13, w));
    let chunks =
        cut(vec![block(&[], BlockKind::Prose, &[sentence("a"), sentence("b"), sentence("c")].concat())]);
    assert_eq!(chunks.len(), 2);
    assert!(chunks[0].text.ends_with("end.") && chunks[1].text.starts_with("Now c"));
}

#[test]
fn code_is_cut_between_lines() {
    let lines: Vec<String> = (0..20).map(|n| format!("let x{n} = {n};")).collect();
    let chunks = cut(vec![block(&[], BlockKind::Code, &lines.join("\n"))]);
    assert!(chunks.len() > 1);
    assert!(chunks.iter().all(|chunk| chunk.text.starts_with("let") && chunk.text.ends_with(';')));
}

#[test]
fn a_document_without_text_is_its_title() {
    assert_eq!(cut(vec![]), [Chunk { headings: vec![], text: "Title".into() }]);
    assert_eq!(indexed_text("Title", &cut(vec![])[0]), "Title");
}

#[test]
fn a_word_of_a_megabyte_becomes_many_passages() {
    let chunks = cut(vec![block(&[], BlockKind::Prose, &"x".repeat(1 << 20))]);
    // Eight characters count as a token at least.
    assert!(chunks.iter().all(|chunk| chunk.text.len() <= 8 * LIMITS.max));
    let letters = chunks.iter().flat_map(|chunk| chunk.text.chars()).filter(|c| *c == 'x').count();
    assert_eq!(letters, 1 << 20);
}

fn solid(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

proptest! {
    #[test]
    fn nothing_is_lost_or_doubled(blocks in prop::collection::vec(
        (0..3usize, 0..4usize, "[a-z .\n\u{4e00}-\u{4e20}]{0,400}"), 0..12)
    ) {
        let kinds = [BlockKind::Prose, BlockKind::List, BlockKind::Table, BlockKind::Code];
        // Headings in capitals, so that they can be told from text after they became lines of it.
        let paths: [&[&str]; 3] = [&[], &["A"], &["A", "B"]];
        let blocks: Vec<Block> = blocks.iter().map(|(p, k, text)| block(paths[*p], kinds[*k], text)).collect();
        let expected: String = blocks.iter().map(|block| solid(&block.text)).collect();
        let chunks = cut(blocks);
        if !expected.is_empty() {
            let found: String = chunks.iter().map(|c| solid(&c.text)).collect();
            prop_assert_eq!(found.replace(['A', 'B'], ""), expected);
        }
        for chunk in &chunks {
            prop_assert!(words(&chunk.text) <= LIMITS.max);
        }
    }
}
