//! `write`: contributing content. Gates in a fixed order, each with an error of its own, and then one
//! durable transaction.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Code, Failure, Service, retrieve::checked_reference, view::View};
use crate::{
    access::{Caller, WriteMode},
    config::ContentRules,
    sources::{Reference, Source, registry::Entry},
    store::state::{self, Contributed, Contribution, WriteResult},
};

/// Longest title, in characters.
const MAX_TITLE: usize = 300;
/// Longest natural key, in characters, and in bytes: references stay short enough to pass around.
const MAX_KEY: usize = 200;
const MAX_KEY_BYTES: usize = 500;
/// Longest note that annotate puts on an item, in characters.
const MAX_NOTE: usize = 2000;
/// Longest origin, and longest remark on it, in characters.
const MAX_ORIGIN: usize = 2000;
/// Longest idempotency key, in characters.
const MAX_IDEMPOTENCY_KEY: usize = 200;

/// Arguments of `write`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// Slug of the source to write to.
    pub source: String,
    /// How to write.
    pub mode: WriteMode,
    /// The content: Markdown, or a JSON object; for annotate the note, at most 2000 characters.
    #[schemars(length(min = 1))]
    pub content: String,
    /// Its title; not for annotate.
    #[serde(default)]
    #[schemars(length(max = 300))]
    pub title: Option<String>,
    /// The natural key that `upsert` replaces under; only for upsert.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub key: Option<String>,
    /// The item that `annotate` puts its note on: a hit's reference; only for annotate.
    #[serde(default)]
    pub reference: Option<String>,
    /// Where the content comes from. No source takes content without it.
    #[serde(default)]
    pub provenance: Option<Origin>,
    /// The same key with the same content returns the first receipt again: give one, and the call can be
    /// repeated safely.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    pub idempotency_key: Option<String>,
}

/// Where contributed content comes from.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// What it was drawn from: a URL, a document, a conversation.
    #[schemars(length(min = 1, max = 2000))]
    pub origin: String,
    /// Anything a reader should know.
    #[serde(default)]
    #[schemars(length(max = 2000))]
    pub note: Option<String>,
}

/// The receipt of a write: durable, and visible to the next retrieve.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Written {
    /// Identifies this call in logs and in the audit record.
    pub request_id: String,
    /// The item's reference; for annotate, that of the passage the note is on.
    pub reference: String,
    /// As asked for.
    pub mode: WriteMode,
    /// What happened.
    pub result: WriteResult,
    /// Counts the item's versions, or the notes on the passage, from 1.
    pub revision: u64,
    /// When it was recorded, RFC 3339 in UTC.
    pub recorded_at: String,
    /// Whether an earlier call with the same idempotency key had done it already.
    pub replayed: bool,
}

impl Service {
    /// Contributes content to a source.
    ///
    /// # Errors
    /// The first gate that is closed: `source_not_found`, `source_not_published`, `source_retired`,
    /// `write_not_allowed`, `write_scope_required`, `write_mode_not_allowed`, `access_denied`,
    /// `invalid_argument`, `reference_not_found`, `write_validation_failed`,
    /// `write_provenance_required`, `write_idempotency_conflict`. Nothing is recorded then.
    pub async fn write(
        &self,
        caller: &Caller,
        request: &Write,
        request_id: &str,
    ) -> Result<Written, Failure> {
        let view = self.view_of(caller, request_id).await?;
        let entry = view.entry(&request.source)?;
        if let Err(refusal) = view.standing(entry).write(request.mode) {
            return Err(view.refuse(entry, refusal, "write").await);
        }
        let source = entry.source().map_err(|error| Failure::from_source(entry.slug(), &error))?;
        let contribution = contribution(&view, entry, source.as_ref(), request).await?;
        let contributed =
            source.write(contribution).await.map_err(|error| Failure::from_source(entry.slug(), &error))?;
        let (receipt, replayed) = match contributed {
            Contributed::Recorded(receipt) => (receipt, false),
            Contributed::Replayed(receipt) => (receipt, true),
            Contributed::Conflict => {
                return Err(Failure::new(
                    Code::WriteIdempotencyConflict,
                    "idempotency_key: was used for other content; use a new key for a new write, and the same \
                     arguments to repeat one",
                )
                .with(json!({ "field": "idempotency_key", "source": entry.slug() })));
            }
        };
        let reference = Reference {
            source: entry.slug().to_owned(),
            document: receipt.document,
            position: receipt.position,
        };
        Ok(Written {
            request_id: request_id.to_owned(),
            reference: reference.to_string(),
            mode: request.mode,
            result: receipt.result,
            revision: receipt.revision,
            recorded_at: receipt.recorded_at,
            replayed,
        })
    }
}

/// Checks the arguments and what is to be written.
async fn contribution(
    view: &View<'_>,
    entry: &Entry,
    source: &dyn Source,
    request: &Write,
) -> Result<Contribution, Failure> {
    let title = title(request)?;
    let idempotency_key = request.idempotency_key.clone();
    if let Some(key) = &idempotency_key {
        checked_key("idempotency_key", key, MAX_IDEMPOTENCY_KEY)?;
    }
    let entry_kind = match request.mode {
        WriteMode::Append => state::Entry::Append,
        WriteMode::Upsert => state::Entry::Upsert { key: natural_key(request)? },
        WriteMode::Annotate => annotated(entry, source, request).await?,
    };
    only_for(request.key.is_some(), request.mode, WriteMode::Upsert, "key")?;
    only_for(request.reference.is_some(), request.mode, WriteMode::Annotate, "reference")?;
    check_content(request.mode, &request.content, &entry.config().content)?;
    let origin = provenance(request)?;
    Ok(Contribution {
        source: entry.slug().to_owned(),
        writer: view.actor(),
        request_id: view.request_id.to_owned(),
        entry: entry_kind,
        title,
        content: request.content.clone(),
        origin: origin.origin.trim().to_owned(),
        note: origin.note.as_deref().map(str::trim).filter(|note| !note.is_empty()).map(str::to_owned),
        idempotency_key,
    })
}

fn title(request: &Write) -> Result<Option<String>, Failure> {
    let title = request.title.as_deref().map(str::trim).filter(|title| !title.is_empty());
    let Some(title) = title else { return Ok(None) };
    if request.mode == WriteMode::Annotate {
        return Err(Failure::argument("title", "a note has none; leave it out"));
    }
    if title.chars().count() > MAX_TITLE || title.chars().any(char::is_control) {
        let message = format!("must be one line of at most {MAX_TITLE} characters");
        return Err(Failure::argument("title", message));
    }
    Ok(Some(title.to_owned()))
}

/// The same key has one spelling only: what looks alike is alike.
fn checked_key(field: &str, key: &str, most: usize) -> Result<(), Failure> {
    let length = key.chars().count();
    if !(1..=most).contains(&length) || key.trim() != key || key.chars().any(char::is_control) {
        return Err(Failure::argument(
            field,
            format!(
                "must be 1 to {most} characters without control characters, not beginning or ending in a space"
            ),
        ));
    }
    Ok(())
}

fn natural_key(request: &Write) -> Result<String, Failure> {
    let Some(key) = &request.key else {
        return Err(Failure::argument("key", "is required for upsert: name the item, the same each time"));
    };
    checked_key("key", key, MAX_KEY)?;
    if key.len() > MAX_KEY_BYTES {
        return Err(Failure::argument("key", format!("must be at most {MAX_KEY_BYTES} bytes of UTF-8")));
    }
    Ok(key.clone())
}

fn only_for(given: bool, mode: WriteMode, wanted: WriteMode, field: &str) -> Result<(), Failure> {
    if given && mode != wanted {
        return Err(Failure::argument(field, format!("is only for {}; leave it out", wanted.name())));
    }
    Ok(())
}

/// The passage a note is put on, as it is now.
async fn annotated(entry: &Entry, source: &dyn Source, request: &Write) -> Result<state::Entry, Failure> {
    let Some(text) = &request.reference else {
        return Err(Failure::argument("reference", "is required for annotate: take it from a hit"));
    };
    let reference = checked_reference("reference", text)?;
    if reference.source != entry.slug() {
        return Err(Failure::argument("reference", "belongs to another source than `source` names"));
    }
    let hit = source.locate(&reference).await.map_err(|error| Failure::from_source(entry.slug(), &error))?;
    Ok(state::Entry::Annotate {
        document: reference.document,
        position: reference.position,
        content_sha256: hit.provenance.content_sha256,
    })
}

fn check_content(mode: WriteMode, content: &str, rules: &ContentRules) -> Result<(), Failure> {
    let failed = |violations: Vec<String>| {
        Failure::new(Code::WriteValidationFailed, format!("content: {}", violations.join("; ")))
            .with(json!({ "field": "content", "violations": violations }))
    };
    if content.trim().is_empty() {
        return Err(failed(vec!["is empty".to_owned()]));
    }
    if content.contains('\0') {
        return Err(failed(vec!["holds NUL characters; send text".to_owned()]));
    }
    if mode == WriteMode::Annotate {
        let length = content.chars().count();
        let long = format!("is {length} characters long; a note can be {MAX_NOTE}");
        return if length > MAX_NOTE { Err(failed(vec![long])) } else { Ok(()) };
    }
    if content.len() > rules.max_bytes {
        let most = rules.max_bytes;
        return Err(failed(vec![format!("is {} bytes long; this source takes {most}", content.len())]));
    }
    match &rules.schema {
        Some(schema) => schema.check(content).map_err(failed),
        None => Ok(()),
    }
}

fn provenance(request: &Write) -> Result<&Origin, Failure> {
    let Some(origin) = request.provenance.as_ref().filter(|origin| !origin.origin.trim().is_empty()) else {
        return Err(Failure::new(
            Code::WriteProvenanceRequired,
            "provenance: say in `origin` what the content was drawn from: a URL, a document, a conversation",
        )
        .with(json!({ "field": "provenance.origin" })));
    };
    let long = |text: &str| text.chars().count() > MAX_ORIGIN;
    if long(&origin.origin) || origin.origin.chars().any(char::is_control) {
        let message = format!("must be one line of at most {MAX_ORIGIN} characters");
        return Err(Failure::argument("provenance.origin", message));
    }
    if origin.note.as_deref().is_some_and(long) {
        return Err(Failure::argument("provenance.note", format!("must be at most {MAX_ORIGIN} characters")));
    }
    Ok(origin)
}
