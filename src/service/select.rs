//! Which sources a call means.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Failure, Service};
use crate::{access::Caller, sources::registry::Entry};

/// One source, several, or all.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "must be a slug, a list of slugs, or \"*\"")]
pub enum Selector {
    /// A slug, or `*` for every source.
    One(String),
    /// Several slugs.
    Several(Vec<String>),
}

impl Default for Selector {
    fn default() -> Self {
        Self::One("*".to_owned())
    }
}

/// Most sources one call may name.
const MAX_SOURCES: usize = 50;

impl Service {
    /// The one source called `slug`, as far as this caller may know of it.
    pub(super) fn source(&self, _caller: &Caller, slug: &str) -> Result<&Entry, Failure> {
        self.registry
            .get(slug)
            .ok_or_else(|| Failure::unknown_source(slug, self.registry.entries().iter().map(Entry::slug)))
    }

    /// The sources `selector` means, each once, in the order named.
    pub(super) fn select(&self, caller: &Caller, selector: &Selector) -> Result<Vec<&Entry>, Failure> {
        let slugs: Vec<&str> = match selector {
            Selector::One(slug) if slug == "*" => {
                return Ok(self.registry.entries().iter().collect());
            }
            Selector::One(slug) => vec![slug],
            Selector::Several(slugs) => slugs.iter().map(String::as_str).collect(),
        };
        if slugs.is_empty() || slugs.len() > MAX_SOURCES {
            return Err(Failure::argument(
                "source",
                format!("name 1 to {MAX_SOURCES} sources, or \"*\" for all of them"),
            ));
        }
        let mut entries: Vec<&Entry> = Vec::new();
        for slug in slugs {
            let entry = self.source(caller, slug)?;
            if !entries.iter().any(|earlier| earlier.slug() == entry.slug()) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }
}
