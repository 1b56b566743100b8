//! `list_sources`.

use rmcp::model::Tool;

use super::{Nature, define};
use crate::service::{ListSources, SourceList};

pub(super) const NAME: &str = "list_sources";

pub(super) fn definition() -> Tool {
    define::<ListSources, SourceList>(
        NAME,
        "List sources",
        "Lists the sources of data you can search: slug, what each holds, how fresh and trustworthy it is, and \
         whether it asks the user back. Call it once before the first retrieve to pick the right source.",
        Nature { read_only: true, idempotent: true },
    )
}
