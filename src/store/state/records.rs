//! The values the state store speaks in.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// Stable name.
    pub subject: String,
    /// user, agent, service, or operator for who decides at the command line.
    pub kind: String,
}

/// What access is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Retrieve and refine.
    Read,
    /// Write, and read what is written.
    Write,
}

impl Access {
    /// Its name in arguments and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// Content on its way in.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// Slug of the source.
    pub source: String,
    /// Who writes.
    pub writer: Actor,
    /// The call it came with.
    pub request_id: String,
    /// What it is.
    pub entry: Entry,
    /// Title for people.
    pub title: Option<String>,
    /// The content.
    pub content: String,
    /// What it was drawn from, in the writer's words.
    pub origin: String,
    /// Anything the writer adds about where it comes from.
    pub note: Option<String>,
    /// The same key with the same content is the same contribution.
    pub idempotency_key: Option<String>,
}

/// What a contribution is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A new item.
    Append,
    /// The item of this natural key, new or not.
    Upsert {
        /// The key.
        key: String,
    },
    /// A note on an item.
    Annotate {
        /// Document the noted passage belongs to.
        document: String,
        /// Index of the passage in it.
        position: u32,
        /// SHA-256 of the document's content at the time, hex.
        content_sha256: String,
    },
}

impl Entry {
    /// Name of its mode in records.
    pub fn mode(&self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Upsert { .. } => "upsert",
            Self::Annotate { .. } => "annotate",
        }
    }
}

impl Contribution {
    /// What two contributions have to share to be the same one: SHA-256 over everything the writer gave.
    pub fn fingerprint(&self) -> [u8; 32] {
        // Which version of a document a note was put on is not the writer's to say.
        let (key, place) = match &self.entry {
            Entry::Append => (None, None),
            Entry::Upsert { key } => (Some(key.as_str()), None),
            Entry::Annotate { document, position, .. } => (Some(document.as_str()), Some(*position)),
        };
        let said = serde_json::json!([
            self.entry.mode(),
            key,
            place,
            self.title,
            self.content,
            self.origin,
            self.note
        ]);
        Sha256::digest(said.to_string()).into()
    }
}

/// What became of a contribution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contributed {
    /// It is recorded.
    Recorded(Receipt),
    /// It was recorded before, under the same idempotency key.
    Replayed(Receipt),
    /// Its idempotency key belongs to another contribution; nothing was recorded.
    Conflict,
}

/// What a writer is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Id of the item, or of the document the noted passage belongs to.
    pub document: String,
    /// Index of the noted passage in it; 0 for an item.
    pub position: u32,
    /// What happened.
    pub result: WriteResult,
    /// Counts the item's versions, or the notes on the passage, from 1.
    pub revision: u64,
    /// When that revision was recorded, RFC 3339 in UTC.
    pub recorded_at: String,
    /// The change that recorded it: the number of its audit record.
    pub change: u64,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteResult {
    /// Something new is there.
    Created,
    /// Something has a new revision.
    Updated,
    /// It was like that already.
    Unchanged,
}

impl WriteResult {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
        }
    }
}

/// One revision of a contributed item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its id in the source: a document's id that begins with `~`.
    pub id: String,
    /// Counts from 1.
    pub revision: u64,
    /// The change that recorded it.
    pub change: u64,
    /// Title for people.
    pub title: Option<String>,
    /// The content.
    pub content: String,
    /// What it was drawn from.
    pub origin: String,
    /// What else its writer said of that.
    pub note: Option<String>,
    /// Who wrote it.
    pub writer: String,
    /// When, RFC 3339 in UTC.
    pub recorded_at: String,
}

/// A note on an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The change that recorded it.
    pub change: u64,
    /// Document it was put on.
    pub document: String,
    /// Passage it was put on.
    pub position: u32,
    /// SHA-256 of the document's content at the time, hex.
    pub content_sha256: String,
    /// What it says.
    pub content: String,
    /// What it was drawn from.
    pub origin: String,
    /// Who wrote it.
    pub writer: String,
    /// When, RFC 3339 in UTC.
    pub recorded_at: String,
}

/// A grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// Its number.
    pub id: u64,
    /// Who has it.
    pub subject: String,
    /// On which source.
    pub source: String,
    /// What it is for.
    pub access: Access,
    /// When it was given, RFC 3339 in UTC.
    pub granted_at: String,
    /// By whom.
    pub granted_by: String,
    /// When it lapses, RFC 3339 in UTC; never without one.
    pub expires_at: Option<String>,
    /// The request it answers.
    pub request: Option<u64>,
}

/// A grant to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewGrant {
    /// To whom.
    pub subject: String,
    /// On which source.
    pub source: String,
    /// For what.
    pub access: Access,
    /// For how many days; for good without.
    pub days: Option<u32>,
    /// By whom.
    pub by: Actor,
}

/// A request to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRequest {
    /// Who asks.
    pub caller: Actor,
    /// For which source.
    pub source: String,
    /// For what.
    pub access: Access,
    /// Why, for the owner to decide by.
    pub reason: String,
    /// For how many days; for good without.
    pub days: Option<u32>,
    /// The call it came with.
    pub request_id: String,
    /// Whether somebody is to be told of it, over the outbox.
    pub notify: bool,
}

/// What asking for access came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requested {
    /// The request, new or the one that was pending.
    pub request: AccessRequest,
    /// Whether it is new.
    pub new: bool,
    /// The decision on the caller's last such request, if there was one.
    pub before: Option<AccessRequest>,
}

/// A request for access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessRequest {
    /// Its number: what the owner approves or denies.
    pub id: u64,
    /// Who asks.
    pub subject: String,
    /// What kind of caller that is.
    pub kind: String,
    /// For which source.
    pub source: String,
    /// For what.
    pub access: Access,
    /// Why.
    pub reason: String,
    /// For how many days; for good without.
    pub days: Option<u32>,
    /// What became of it.
    pub status: RequestStatus,
    /// When it was made, RFC 3339 in UTC.
    pub requested_at: String,
    /// When it was decided.
    pub decided_at: Option<String>,
    /// By whom.
    pub decided_by: Option<String>,
    /// Why, in the owner's words.
    pub why: Option<String>,
}

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestStatus {
    /// Nobody has decided.
    Pending,
    /// The access was granted.
    Approved,
    /// It was not.
    Denied,
}

/// What an owner decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Grants what was asked for.
    Approve {
        /// For how many days; without, as long as was asked for.
        days: Option<u32>,
    },
    /// Does not.
    Deny {
        /// Why, for the caller.
        why: String,
    },
}

/// Something that happened, for the audit record. Never holds what was asked or written.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// What: a stable name such as `write` or `access.approved`.
    pub name: String,
    /// Who did it.
    pub actor: Actor,
    /// On which source.
    pub source: String,
    /// The call it came with, empty at the command line.
    pub request_id: String,
    /// What else there is to know of it: plain values by name.
    pub details: BTreeMap<String, Value>,
}

/// One audit record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Counts from 1 without gaps.
    pub number: u64,
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// What: a stable name.
    pub event: String,
    /// Who.
    pub caller: String,
    /// What kind of caller.
    pub kind: String,
    /// On which source.
    pub source: String,
    /// The call it came with, empty at the command line.
    pub request_id: String,
    /// What else there is to know of it: plain values by name.
    pub details: BTreeMap<String, Value>,
    /// Hash of the record before, hex; 64 zeros for the first.
    pub previous: String,
    /// Hash of this one, hex: see [`AuditRecord::expected_hash`].
    pub hash: String,
}

impl AuditRecord {
    /// What the hash has to be: SHA-256 of the record as JSON without its hash, keys in the order of the
    /// alphabet, no spaces, UTF-8.
    pub fn expected_hash(&self) -> String {
        // Sorted by the map and not by how `serde_json` happens to be built.
        let fields: BTreeMap<&str, Value> = [
            ("number", self.number.into()),
            ("at", self.at.as_str().into()),
            ("event", self.event.as_str().into()),
            ("caller", self.caller.as_str().into()),
            ("kind", self.kind.as_str().into()),
            ("source", self.source.as_str().into()),
            ("request_id", self.request_id.as_str().into()),
            ("details", serde_json::json!(self.details)),
            ("previous", self.previous.as_str().into()),
        ]
        .into();
        let canonical = serde_json::to_string(&fields).unwrap_or_default();
        crate::text::hex(&Sha256::digest(canonical))
    }
}

/// The end of the audit record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AuditHead {
    /// How many records there are.
    pub number: u64,
    /// Hash of the last, hex; 64 zeros before the first.
    pub hash: String,
}

/// A message on its way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its number in the outbox.
    pub id: u64,
    /// Identifies the message to its receiver, however often it arrives.
    pub message_id: String,
    /// The message, JSON.
    pub body: String,
    /// How often it was tried before.
    pub attempts: u32,
}
