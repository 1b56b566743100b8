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
         annotate a hit with a note. Say where the content comes from in `provenance`, and give an `idempotency_key` \
         so that you can repeat the call safely. describe_source shows whether and how a source takes writes, and \
         the schema content has to fulfil. A receipt means that it is durable and that the next retrieve finds it.",
        Nature { read_only: false, idempotent: false },
    )
}
