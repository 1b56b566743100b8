//! `[sources.policy]`: who may do what with a source.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::access::{ContentSchema, Lifecycle, Policy, Visibility, WriteMode, WritePolicy};

/// `[sources.policy]` as written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct RawPolicy {
    /// Where the source is in its life.
    status: Lifecycle,
    /// Who may read it without asking.
    visibility: Visibility,
    /// The groups a restricted source is open to.
    allowed_groups: BTreeSet<String>,
    /// Whether those who may not use it may know of it and ask for access.
    requestable: bool,
    /// Who may write to it, and how.
    write: RawWrite,
}

/// `[sources.policy.write]` as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
struct RawWrite {
    /// Whether agents may write at all.
    allowed: bool,
    /// The modes they may use.
    modes: Vec<WriteMode>,
    /// The readers who may write, by group; empty: every reader.
    groups: BTreeSet<String>,
    /// Largest content of one write.
    #[schemars(with = "String")]
    max_bytes: ByteSize,
    /// JSON Schema that content has to fulfil: a table, or the path of a file.
    schema: Option<Value>,
}

impl Default for RawWrite {
    fn default() -> Self {
        Self {
            allowed: false,
            modes: WriteMode::ALL.to_vec(),
            groups: BTreeSet::new(),
            // A long page of text; more is a file for the owner to put there.
            max_bytes: ByteSize::kib(64),
            schema: None,
        }
    }
}

/// What content has to fulfil to be taken.
#[derive(Debug, Clone)]
pub struct ContentRules {
    /// Largest content, in bytes.
    pub max_bytes: usize,
    /// The schema it has to fulfil as JSON; any text without one.
    pub schema: Option<Arc<ContentSchema>>,
}

impl Default for ContentRules {
    fn default() -> Self {
        Self { max_bytes: 64 * 1024, schema: None }
    }
}

/// Most that `write.max_bytes` can be: what is written is embedded while the writer waits.
const MAX_BYTES: ByteSize = ByteSize::mib(1);

impl RawPolicy {
    /// The policy and the content rules; `problem` hears of each key that will not do.
    pub(super) fn validate(self, mut problem: impl FnMut(&str, String)) -> (Policy, ContentRules) {
        if self.visibility == Visibility::Public && !self.allowed_groups.is_empty() {
            problem(
                "policy.allowed_groups",
                "keeps nobody out while visibility is public; set visibility = \"restricted\", or leave it out"
                    .to_owned(),
            );
        }
        let write = &self.write;
        if write.allowed && write.modes.is_empty() {
            problem("policy.write.modes", "is empty; name a mode, or set allowed = false".to_owned());
        }
        if !(1..=MAX_BYTES.as_u64()).contains(&write.max_bytes.as_u64()) {
            problem("policy.write.max_bytes", format!("must be from 1B to {MAX_BYTES}"));
        }
        let schema = self.write.schema.and_then(|schema| match compile(schema) {
            Ok(schema) => Some(Arc::new(schema)),
            Err(why) => {
                problem("policy.write.schema", why);
                None
            }
        });
        let mut modes = self.write.modes;
        modes.sort_by_key(|mode| mode.name());
        modes.dedup();
        let policy = Policy {
            status: self.status,
            visibility: self.visibility,
            allowed_groups: self.allowed_groups,
            requestable: self.requestable,
            write: WritePolicy { allowed: self.write.allowed, modes, groups: self.write.groups },
        };
        let max_bytes = usize::try_from(self.write.max_bytes.as_u64()).unwrap_or(usize::MAX);
        (policy, ContentRules { max_bytes, schema })
    }
}

/// The schema in a table, or in the file that a text names.
fn compile(schema: Value) -> Result<ContentSchema, String> {
    let schema = match schema {
        Value::String(path) => {
            let text = std::fs::read_to_string(Path::new(&path))
                .map_err(|error| format!("`{path}` cannot be read: {error}"))?;
            serde_json::from_str(&text).map_err(|error| format!("`{path}` is not JSON: {error}"))?
        }
        Value::Object(_) => schema,
        _ => return Err("must be a table, or the path of a JSON file".to_owned()),
    };
    ContentSchema::compile(&schema)
}
