//! WordPiece as BERT (uncased) was trained with: clean, split, fold, and cut words into the
//! longest pieces the vocabulary has.

use std::collections::HashMap;

use unicode_general_category::{GeneralCategory as Category, get_general_category};
use unicode_normalization::UnicodeNormalization;

use super::EmbeddingError;

const UNKNOWN: &str = "[UNK]";
const START: &str = "[CLS]";
const END: &str = "[SEP]";

/// Words longer than this are unknown, whatever they are made of.
const MAX_WORD: usize = 100;

/// The tokenizer.
pub(super) struct WordPiece {
    /// Pieces that start a word.
    initial: HashMap<&'static str, u32>,
    /// Pieces that continue one, without their `##`.
    continuing: HashMap<&'static str, u32>,
    unknown: u32,
    start: u32,
    end: u32,
}

impl WordPiece {
    /// Reads a vocabulary: one piece a line, its id the line's number from 0.
    pub(super) fn new(vocabulary: &'static str) -> Result<Self, EmbeddingError> {
        let mut initial = HashMap::new();
        let mut continuing = HashMap::new();
        for (id, piece) in (0u32..).zip(vocabulary.lines()) {
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => continuing.insert(rest, id),
                _ => initial.insert(piece, id),
            };
        }
        let special = |piece: &str| {
            initial.get(piece).copied().ok_or_else(|| EmbeddingError(format!("the vocabulary lacks {piece}")))
        };
        let (unknown, start, end) = (special(UNKNOWN)?, special(START)?, special(END)?);
        Ok(Self { initial, continuing, unknown, start, end })
    }

    /// The ids of `text` between `[CLS]` and `[SEP]`, at most `limit` with both.
    pub(super) fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = vec![self.start];
        self.pieces(text, &mut |id| {
            ids.push(id);
            ids.len() < limit.saturating_sub(1)
        });
        ids.push(self.end);
        ids
    }

    /// How many pieces `text` has, without the two special ones.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.pieces(text, &mut |_| {
            count += 1;
            true
        });
        count
    }

    /// Hands every piece to `take` until it returns false: a long text is read no further than needed.
    fn pieces(&self, text: &str, take: &mut dyn FnMut(u32) -> bool) {
        let folded = text
            .chars()
            .filter(|c| !is_dropped(*c))
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .nfd()
            .filter(|c| get_general_category(*c) != Category::NonspacingMark)
            .flat_map(char::to_lowercase);
        let mut word = String::new();
        for c in folded {
            let stands_alone = is_punctuation(c) || is_cjk(c);
            if c != ' ' && !stands_alone {
                word.push(c);
                continue;
            }
            if !self.word(&word, take) {
                return;
            }
            word.clear();
            if stands_alone {
                let mut buffer = [0; 4];
                if !self.word(c.encode_utf8(&mut buffer), take) {
                    return;
                }
            }
        }
        self.word(&word, take);
    }

    /// Cuts one word, longest piece first. A word that cannot be cut completely is unknown as a whole.
    fn word(&self, word: &str, take: &mut dyn FnMut(u32) -> bool) -> bool {
        if word.is_empty() {
            return true;
        }
        // Checked before counting characters: a word may be a megabyte.
        if word.len() > 4 * MAX_WORD || word.chars().count() > MAX_WORD {
            return take(self.unknown);
        }
        let mut pieces = Vec::new();
        let mut rest = word;
        while !rest.is_empty() {
            let table = if pieces.is_empty() { &self.initial } else { &self.continuing };
            let longest = rest
                .char_indices()
                .map(|(at, c)| at + c.len_utf8())
                .rev()
                .find_map(|end| Some((*table.get(rest.get(..end)?)?, end)));
            let Some((id, end)) = longest else { return take(self.unknown) };
            pieces.push(id);
            rest = rest.get(end..).unwrap_or_default();
        }
        pieces.into_iter().all(take)
    }
}

/// Characters that BERT's cleaning removes: NUL, the replacement character, and controls that
/// are not white space.
fn is_dropped(c: char) -> bool {
    if matches!(c, '\t' | '\n' | '\r') {
        return false;
    }
    c == '\u{0}'
        || c == '\u{fffd}'
        || matches!(
            get_general_category(c),
            Category::Control
                | Category::Format
                | Category::Unassigned
                | Category::PrivateUse
                | Category::Surrogate
        )
}

/// Unicode punctuation, and all of ASCII that is neither a letter, a digit, nor white space.
fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(
            get_general_category(c),
            Category::ConnectorPunctuation
                | Category::DashPunctuation
                | Category::OpenPunctuation
                | Category::ClosePunctuation
                | Category::InitialPunctuation
                | Category::FinalPunctuation
                | Category::OtherPunctuation
        )
}

/// The CJK ideograph blocks, each of whose characters is a word of its own to BERT.
fn is_cjk(c: char) -> bool {
    matches!(
        c,
        '\u{4e00}'..='\u{9fff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{20000}'..='\u{2a6df}'
            | '\u{2a700}'..='\u{2b73f}'
            | '\u{2b740}'..='\u{2b81f}'
            | '\u{2b820}'..='\u{2ceaf}'
            | '\u{f900}'..='\u{faff}'
            | '\u{2f800}'..='\u{2fa1f}'
    )
}
