//! `write`.

use rmcp::model::Tool;

use super::{Nature, define};
use crate::service::{Write, Written};

pub(super) const NAME: &str = "write";

pub(super) fn definition() -> Tool {
    define::<Write, Written>(
        NAME,
        "Write",
        "Contributes content to a source that takes contributions: append a new item, upsert by a natural key, or \
         annotate an existing item with a note. Say where the content comes from in `provenance`. Sources that take \
         no writes answer with the code write_not_allowed; describe_source shows a source's write policy.",
        Nature { read_only: false, idempotent: false },
    )
}
