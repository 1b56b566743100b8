//! A source's policy, and what it lets a caller do: the one place where that is decided.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, Held, Scope};

#[cfg(test)]
mod tests;

/// Who may do what with a source, as its owner decided.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Where the source is in its life.
    pub status: Lifecycle,
    /// Who may read it without asking.
    pub visibility: Visibility,
    /// The groups a restricted source is open to.
    pub allowed_groups: BTreeSet<String>,
    /// Whether those who may not use it may know of it and ask its owner.
    pub requestable: bool,
    /// Who may write to it, and how.
    pub write: WritePolicy,
}

/// Who may write to a source, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WritePolicy {
    /// Whether anybody may.
    pub allowed: bool,
    /// In which modes.
    pub modes: Vec<WriteMode>,
    /// The readers who may, by group; empty: every reader.
    pub groups: BTreeSet<String>,
}

/// Where a source is in its life.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// Being set up: nobody knows of it.
    Draft,
    /// Its content is ready and its data card can be read, but it does not answer yet.
    Curated,
    /// It answers.
    #[default]
    Published,
    /// It no longer answers; its data card stays.
    Retired,
}

impl Lifecycle {
    /// Its name in settings and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Curated => "curated",
            Self::Published => "published",
            Self::Retired => "retired",
        }
    }
}

/// Who may read a source without asking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Every caller.
    #[default]
    Public,
    /// Callers in one of its groups.
    Restricted,
}

/// How to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WriteMode {
    /// Add a new item.
    Append,
    /// Add, or replace what has the same `key`.
    Upsert,
    /// Put a note on an item, whose content stays as it is.
    Annotate,
}

impl WriteMode {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Append, Self::Upsert, Self::Annotate];

    /// Its name in arguments and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Upsert => "upsert",
            Self::Annotate => "annotate",
        }
    }
}

/// The most a caller may do with a source, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccessLevel {
    /// Write, and read as far as its credentials are good for that too.
    Write,
    /// Read.
    Read,
    /// Nothing yet, but `request_access` reaches its owner.
    Requestable,
    /// Nothing.
    None,
}

/// Why a caller may not do something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The caller may not know that the source exists.
    Hidden,
    /// It does not answer yet.
    NotPublished,
    /// It no longer answers.
    Retired,
    /// The caller is not among those it is open to.
    Denied {
        /// Whether asking its owner can help.
        requestable: bool,
    },
    /// The caller's credentials are not good for it.
    Scope(Scope),
    /// The source takes no writes.
    WritesNotAllowed,
    /// The source does not take writes in this mode.
    ModeNotAllowed,
}

/// One caller before one source.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// The source's policy.
    pub policy: &'a Policy,
    /// Who is asking.
    pub caller: &'a Caller,
    /// What the owner has granted the caller, as far as it is in force.
    pub held: Held,
}

impl Standing<'_> {
    /// Whether the source is open to the caller: to everybody, to one of its groups, or by a grant.
    fn is_member(&self) -> bool {
        self.policy.visibility == Visibility::Public
            || self.caller.is_in(&self.policy.allowed_groups)
            || self.held != Held::Nothing
    }

    /// Whether the caller is among those who may write, as far as that is about who it is.
    fn is_writer(&self) -> bool {
        let groups = &self.policy.write.groups;
        self.held == Held::Write || (self.is_member() && (groups.is_empty() || self.caller.is_in(groups)))
    }

    /// Whether the caller may know that the source exists.
    pub fn sees(&self) -> bool {
        self.policy.status != Lifecycle::Draft && (self.is_member() || self.policy.requestable)
    }

    fn answers(&self) -> Result<(), Refusal> {
        if !self.sees() {
            return Err(Refusal::Hidden);
        }
        match self.policy.status {
            Lifecycle::Draft => Err(Refusal::Hidden),
            Lifecycle::Curated => Err(Refusal::NotPublished),
            Lifecycle::Retired => Err(Refusal::Retired),
            Lifecycle::Published => Ok(()),
        }
    }

    /// Whether the caller may retrieve and refine.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn read(&self) -> Result<(), Refusal> {
        self.answers()?;
        if !self.caller.has(Scope::Read) {
            return Err(Refusal::Scope(Scope::Read));
        }
        if self.is_member() { Ok(()) } else { Err(self.denied()) }
    }

    /// Whether the caller may write in `mode`. The gates stand in a fixed order, each with an error of
    /// its own: status, whether writes are allowed, scope, mode, groups.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn write(&self, mode: WriteMode) -> Result<(), Refusal> {
        self.answers()?;
        if !self.policy.write.allowed {
            return Err(Refusal::WritesNotAllowed);
        }
        if !self.caller.has(Scope::Write) {
            return Err(Refusal::Scope(Scope::Write));
        }
        if !self.policy.write.modes.contains(&mode) {
            return Err(Refusal::ModeNotAllowed);
        }
        if self.is_writer() { Ok(()) } else { Err(self.denied()) }
    }

    /// Whether the caller may ask the source's owner for access of this kind.
    ///
    /// # Errors
    /// The first reason against it; never because the caller has the access already.
    pub fn request(&self, access: super::Access) -> Result<(), Refusal> {
        self.answers()?;
        if access == super::Access::Write && !self.policy.write.allowed {
            return Err(Refusal::WritesNotAllowed);
        }
        if self.has(access) || self.policy.requestable { Ok(()) } else { Err(self.denied()) }
    }

    /// Whether the caller has access of this kind, leaving aside what its credentials are good for:
    /// an owner cannot change those.
    pub fn has(&self, access: super::Access) -> bool {
        match access {
            super::Access::Read => self.is_member(),
            super::Access::Write => self.policy.write.allowed && self.is_writer(),
        }
    }

    /// The most the caller may do, in one word.
    pub fn level(&self) -> AccessLevel {
        let writes: Vec<_> = self.policy.write.modes.iter().map(|mode| self.write(*mode)).collect();
        let reads = self.read();
        let askable = Err(Refusal::Denied { requestable: true });
        if writes.iter().any(Result::is_ok) {
            // Whoever may only write may do something, and has to learn of it.
            AccessLevel::Write
        } else if reads.is_ok() {
            AccessLevel::Read
        } else if reads == askable || writes.contains(&askable) {
            AccessLevel::Requestable
        } else {
            AccessLevel::None
        }
    }

    fn denied(&self) -> Refusal {
        Refusal::Denied { requestable: self.policy.requestable }
    }
}
