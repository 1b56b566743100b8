//! Counting tokens of a model whose tokenizer is elsewhere. Rather too many than too few: a passage
//! that is a little shorter than it could be costs little, one that is cut off loses its end.
//!
//! A run of ASCII letters and digits counts one per four characters begun, where an English word
//! averages 1.3; a character of Chinese, Japanese, Korean or Thai writing counts one, other letters
//! one per two; every other visible character counts one. On English prose that is about a quarter
//! more than WordPiece counts.

/// How many tokens `text` comes to at most, by and large.
pub(super) fn estimate(text: &str) -> usize {
    let mut counter = Counter::default();
    text.chars().for_each(|c| counter.add(c));
    counter.total
}

/// The beginning of `text` that comes to at most `limit` tokens.
pub(super) fn head(text: &str, limit: usize) -> &str {
    let mut counter = Counter::default();
    for (at, c) in text.char_indices() {
        counter.add(c);
        if counter.total > limit {
            return text.get(..at).unwrap_or(text);
        }
    }
    text
}

#[derive(Default)]
struct Counter {
    total: usize,
    /// Characters of the word so far that the last token still has room for.
    room: usize,
    /// What the last token holds, if it can go on.
    of: Option<Letters>,
}

#[derive(PartialEq, Clone, Copy)]
enum Letters {
    Ascii,
    Other,
}

impl Counter {
    fn add(&mut self, c: char) {
        let (of, size) = match c {
            _ if c.is_ascii_alphanumeric() => (Some(Letters::Ascii), 4),
            _ if c.is_whitespace() => {
                self.of = None;
                return;
            }
            _ if c.is_alphanumeric() && !stands_alone(c) => (Some(Letters::Other), 2),
            _ => (None, 1),
        };
        if of.is_some() && of == self.of && self.room > 0 {
            self.room -= 1;
        } else {
            self.total += 1;
            self.room = size - 1;
        }
        self.of = of;
    }
}

/// Writing without spaces, of which most characters are tokens.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
        || matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
        || c >= '\u{20000}'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{embedder::Embedder, embedding::MiniLm};

    #[test]
    fn words_numbers_and_other_writing() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("cat"), 1);
        assert_eq!(estimate("four letters"), 3);
        assert_eq!(estimate("a-b, c"), 5);
        assert_eq!(estimate("Москва"), 3);
        assert_eq!(estimate("東京都"), 3);
    }

    #[test]
    fn the_head_fits_and_is_all_that_fits() {
        let text = "one two three four naïve 東京";
        assert_eq!(head(text, 100), text);
        assert_eq!(head(text, 2), "one two ");
        for limit in 0..12 {
            assert!(estimate(head(text, limit)) <= limit);
        }
    }

    #[test]
    fn counts_more_than_a_real_tokenizer_but_not_twice_as_much() {
        let model = MiniLm::load().unwrap();
        let (mut sections, mut short, mut real, mut estimated) = (0, 0, 0, 0);
        for page in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/docs")).unwrap() {
            let text = std::fs::read_to_string(page.unwrap().path()).unwrap();
            for section in text.split("\n## ") {
                let counts = (model.count_tokens(section), estimate(section));
                (real, estimated) = (real + counts.0, estimated + counts.1);
                sections += 1;
                short += usize::from(counts.1 < counts.0);
            }
        }
        let share = estimated as f64 / real as f64;
        assert!((1.15..1.6).contains(&share), "{share}");
        assert!(short * 50 <= sections, "{short} of {sections} sections were counted short");
    }
}
