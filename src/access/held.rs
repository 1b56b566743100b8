//! What a caller's grants come to.

use crate::store::state::{Access, Grant};

/// What an owner has granted a caller on one source, as far as it is in force. Write includes read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// Nothing.
    #[default]
    Nothing,
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
}

impl Held {
    /// What `grants`, all in force and of one caller, give on `source`.
    pub fn on(source: &str, grants: &[Grant]) -> Self {
        let of = |grant: &Grant| match grant.access {
            Access::Read => Self::Read,
            Access::Write => Self::Write,
        };
        grants.iter().filter(|grant| grant.source == source).map(of).max().unwrap_or_default()
    }
}
