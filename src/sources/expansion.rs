//! Reading on from a hit.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Hit, Reference};
use crate::text::head;

/// How to read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// The passages before and after, as many as `window` on each side.
    Adjacent,
    /// The whole section the passage stands in.
    Section,
    /// The whole document.
    Document,
    /// Documents related by declared relationships.
    CrossReference,
    /// Everything about one entity, in order.
    Entity,
    /// Passages of other documents that resemble it.
    Similar,
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Adjacent => "adjacent",
            Self::Section => "section",
            Self::Document => "document",
            Self::CrossReference => "cross_reference",
            Self::Entity => "entity",
            Self::Similar => "similar",
        })
    }
}

/// What to read on from, and how far.
#[derive(Debug, Clone)]
pub struct ExpandRequest {
    /// Where to start.
    pub reference: Reference,
    /// How.
    pub strategy: Strategy,
    /// What the reader is after: ranks `similar`, otherwise unused.
    pub query: Option<String>,
    /// Passages on each side for [`Strategy::Adjacent`], at most so many for [`Strategy::Similar`].
    pub window: usize,
    /// How much text to return.
    pub budget: Budget,
}

/// How much text may be returned, in tokens of the source's own counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// At most this many tokens; the origin passage is always returned, cut if it must be.
    pub max_tokens: usize,
}

/// What was read.
#[derive(Debug, Clone)]
pub struct Expansion {
    /// Passages in reading order (for `similar`: origin first, then best first).
    pub passages: Vec<Passage>,
    /// Whether the budget cut anything off.
    pub truncated: bool,
}

/// Characters of a token, on average.
const TOKEN: usize = 4;

impl Expansion {
    /// The origin, cut if it must be, then as many of `others` as fit, for kinds that count a token as four
    /// characters.
    pub(super) fn within(budget: Budget, mut origin: Hit, others: impl IntoIterator<Item = Hit>) -> Self {
        let mut left = budget.max_tokens.saturating_mul(TOKEN);
        let mut truncated = origin.text.chars().count() > left;
        origin.text = head(&origin.text, left).to_owned();
        left -= origin.text.chars().count();
        let mut passages = vec![Passage { hit: origin, is_origin: true }];
        for hit in others {
            let cost = hit.text.chars().count();
            if cost > left {
                truncated = true;
                break;
            }
            left -= cost;
            passages.push(Passage { hit, is_origin: false });
        }
        Self { passages, truncated }
    }
}

/// One passage of an expansion.
#[derive(Debug, Clone)]
pub struct Passage {
    /// The passage as a hit; `score` is its cosine to the origin for `similar`, otherwise 0.
    pub hit: Hit,
    /// Whether it is the one the expansion started from.
    pub is_origin: bool,
}
