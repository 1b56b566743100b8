//! Cutting a block that is too long, where it hurts least.

use unicode_segmentation::UnicodeSegmentation;

use super::BlockKind;

/// Characters that count as one token at least: a word of a megabyte is a single unknown token,
/// and still no passage.
const CHARACTERS_PER_TOKEN: usize = 8;

/// What `text` costs of a passage's budget.
pub(super) fn cost(text: &str, count_tokens: &dyn Fn(&str) -> usize) -> usize {
    count_tokens(text).max(text.chars().count().div_ceil(CHARACTERS_PER_TOKEN))
}

/// Pieces of `text` of at most `room` tokens each: by lines where lines carry structure,
/// otherwise by sentences; a sentence that is too long by words, a word by characters.
pub(super) fn split(
    text: &str,
    kind: BlockKind,
    room: usize,
    count_tokens: &dyn Fn(&str) -> usize,
) -> Vec<String> {
    let text = text.trim_matches('\n').trim_end();
    if cost(text, count_tokens) <= room {
        return vec![text.to_owned()];
    }
    let mut pieces = Pieces { room, done: Vec::new(), current: String::new(), spent: 0, count_tokens };
    if kind == BlockKind::Prose {
        pieces.sentences(text);
    } else {
        text.split_inclusive('\n').for_each(|line| {
            if !pieces.fits(line) {
                pieces.sentences(line);
            }
        });
    }
    pieces.finish()
}

struct Pieces<'a> {
    room: usize,
    done: Vec<String>,
    current: String,
    spent: usize,
    count_tokens: &'a dyn Fn(&str) -> usize,
}

impl Pieces<'_> {
    /// Adds `unit` to the current piece, or to a new one; false if it is too long for any.
    fn fits(&mut self, unit: &str) -> bool {
        let cost = cost(unit, self.count_tokens);
        if cost > self.room {
            return false;
        }
        if self.spent + cost > self.room {
            self.flush();
        }
        self.current.push_str(unit);
        self.spent += cost;
        true
    }

    fn sentences(&mut self, text: &str) {
        for sentence in text.split_sentence_bounds() {
            if self.fits(sentence) {
                continue;
            }
            for word in sentence.split_inclusive(char::is_whitespace) {
                if self.fits(word) {
                    continue;
                }
                self.flush();
                // As many characters as tokens: each costs at most one.
                let characters: Vec<char> = word.chars().collect();
                for part in characters.chunks(self.room.max(1)) {
                    self.done.push(part.iter().collect());
                }
            }
        }
    }

    fn flush(&mut self) {
        let piece = std::mem::take(&mut self.current);
        self.spent = 0;
        if !piece.trim().is_empty() {
            self.done.push(piece.trim_matches('\n').trim_end().to_owned());
        }
    }

    fn finish(mut self) -> Vec<String> {
        self.flush();
        self.done
    }
}
