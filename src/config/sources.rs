//! `[[sources]]`: what every kind has in common. A kind's own keys stand beside these and are
//! checked by the kind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContentRules, Problem, SourceClarify, keys, policy::RawPolicy};
use crate::{access::Policy, sources::registry::Kind};

/// The keys every source has, as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct RawSource {
    slug: String,
    #[expect(dead_code, reason = "read before the rest, to know which keys there can be")]
    kind: String,
    name: Option<String>,
    #[serde(default)]
    description: String,
    #[serde(default)]
    card: Card,
    #[serde(default)]
    clarify: SourceClarify,
    #[serde(default)]
    policy: RawPolicy,
}

/// One source, validated as far as its kind allows without opening it.
#[derive(Debug, Clone)]
pub struct SourceConfig {
    /// Its name in references and arguments.
    pub slug: String,
    /// The adapter.
    pub kind: Kind,
    /// Its name for people.
    pub name: String,
    /// What it holds, in a sentence or two, for agents choosing a source.
    pub description: String,
    /// What its owner says about it.
    pub card: Card,
    /// Its own rules for asking back.
    pub clarify: SourceClarify,
    /// Who may do what with it.
    pub policy: Policy,
    /// What is taken as content when it is written to.
    pub content: ContentRules,
    /// The kind's own settings, still as written.
    pub settings: Map<String, Value>,
}

impl SourceConfig {
    /// A source with nothing but a name and its kind's own settings.
    pub fn new(slug: &str, kind: Kind, settings: Map<String, Value>) -> Self {
        Self {
            slug: slug.to_owned(),
            kind,
            name: slug.to_owned(),
            description: String::new(),
            card: Card::default(),
            clarify: SourceClarify::default(),
            policy: Policy::default(),
            content: ContentRules::default(),
            settings,
        }
    }
}

/// What an owner can say about a source. Everything is optional: what is missing is reported by
/// `describe_source` as `completeness`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Card {
    /// What its owner says of it, in the card's own table.
    #[serde(flatten)]
    pub statements: Statements,
    /// How fresh it is meant to be.
    pub freshness: Freshness,
    /// How it may be used.
    pub usage: Usage,
    /// Questions it answers well.
    pub sample_queries: Vec<String>,
}

/// The owner's own words about a source.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Statements {
    /// Who answers for the content.
    pub owner: Option<String>,
    /// How the content comes about.
    pub methodology: Option<String>,
    /// What it covers, and what it does not.
    pub coverage: Option<String>,
    /// How sensitive it is, in the organisation's own terms.
    pub classification: Option<String>,
    /// Conclusions the content supports.
    pub supported_conclusions: Vec<String>,
    /// Conclusions it does not support.
    pub unsupported_conclusions: Vec<String>,
    /// What to mind when interpreting it.
    pub interpretation: Vec<String>,
    /// Known biases and gaps.
    pub known_biases: Vec<String>,
}

/// How fresh a source is meant to be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Freshness {
    /// Where the content comes from.
    pub source: Option<String>,
    /// Where that can be read.
    pub url: Option<String>,
    /// How often it changes, such as `weekly`.
    pub cadence: Option<String>,
    /// What to say about its age.
    pub staleness_note: Option<String>,
}

/// How a source may be used.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// How to cite it.
    pub citation: Option<String>,
    /// What to say about its scope when using it.
    pub scope_disclaimer: Option<String>,
    /// How to handle it.
    pub handling: Option<String>,
    /// Anything else.
    pub custom: Vec<String>,
}

/// Checks `[[sources]]` and splits each entry into what is common and what is the kind's own.
pub(super) fn validate(entries: Vec<Map<String, Value>>, problems: &mut Vec<Problem>) -> Vec<SourceConfig> {
    let mut sources: Vec<SourceConfig> = Vec::new();
    for (n, entry) in entries.into_iter().enumerate() {
        let path = entry.get("slug").and_then(Value::as_str).map_or_else(
            || format!("sources[{n}]"),
            |slug| format!("sources[{}]", crate::text::excerpt(slug, 40)),
        );
        let Some(source) = one(entry, &path, problems) else { continue };
        if sources.iter().any(|earlier| earlier.slug == source.slug) {
            problems.push(Problem::new(format!("{path}.slug"), "is used by two sources; slugs are unique"));
            continue;
        }
        sources.push(source);
    }
    sources
}

fn one(mut entry: Map<String, Value>, path: &str, problems: &mut Vec<Problem>) -> Option<SourceConfig> {
    let kind_name = match entry.get("kind").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => {
            let known = Kind::names().collect::<Vec<_>>().join(", ");
            problems.push(Problem::new(format!("{path}.kind"), format!("is missing; kinds: {known}")));
            return None;
        }
    };
    let Some(kind) = Kind::named(&kind_name) else {
        problems.push(Problem::new(format!("{path}.kind"), unknown_kind(&kind_name)));
        return None;
    };
    let common = schemars::schema_for!(RawSource).to_value();
    // One schema of both halves, so that a slip in either finds the nearest name in both.
    let mut schema = kind.schema();
    for part in ["properties", "$defs"] {
        let Some(from) = common.get(part).and_then(Value::as_object) else { continue };
        if let Some(into) = schema.as_object_mut().and_then(|schema| {
            schema.entry(part).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
        }) {
            into.extend(from.clone());
        }
    }
    let before = problems.len();
    keys::unknown(&Value::Object(entry.clone()), &schema, path, problems);
    if problems.len() > before {
        return None;
    }
    let own = common.get("properties").and_then(Value::as_object);
    let settings = entry
        .keys()
        .filter(|key| own.is_none_or(|own| !own.contains_key(*key)))
        .cloned()
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(|key| entry.remove(&key).map(|value| (key, value)))
        .collect::<Map<_, _>>();
    let raw: RawSource = match serde_path_to_error::deserialize(Value::Object(entry)) {
        Ok(raw) => raw,
        Err(error) => {
            let field = error.path().to_string();
            let key = if field == "." { path.to_owned() } else { keys::join(path, &field) };
            problems.push(Problem::new(key, error.inner().to_string()));
            return None;
        }
    };
    if !is_slug(&raw.slug) {
        problems.push(Problem::new(
            format!("{path}.slug"),
            "must be 1 to 64 lower-case letters, digits, `-` or `_`, starting with a letter or digit",
        ));
        return None;
    }
    let before = problems.len();
    problems.extend(raw.clarify.problems().map(|(key, why)| Problem::new(keys::join(path, key), why)));
    let (policy, content) =
        raw.policy.validate(|key, why| problems.push(Problem::new(keys::join(path, key), why)));
    if problems.len() > before {
        return None;
    }
    if let Err(problem) = kind.check(&settings) {
        problems.push(Problem::new(keys::join(path, &problem.key), problem.message));
        return None;
    }
    Some(SourceConfig {
        name: raw.name.unwrap_or_else(|| raw.slug.clone()),
        slug: raw.slug,
        kind,
        description: raw.description,
        card: raw.card,
        clarify: raw.clarify,
        policy,
        content,
        settings,
    })
}

fn unknown_kind(name: &str) -> String {
    match crate::text::nearest(name, Kind::names(), 1).first() {
        Some(meant) => format!("`{name}` is not a kind; did you mean `{meant}`?"),
        None => format!("`{name}` is not a kind; kinds: {}", Kind::names().collect::<Vec<_>>().join(", ")),
    }
}

fn is_slug(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let rest = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'));
    first && rest && text.len() <= 64
}
