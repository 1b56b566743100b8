//! The identity behind a call.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The identity behind a call, as the edge established it. Everything else trusts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// Stable name: what grants, audit records, idempotency keys and sealed state are bound to.
    pub subject: String,
    /// What kind of caller it is.
    pub kind: CallerKind,
    /// Groups it is a member of, as its credentials say.
    pub groups: BTreeSet<String>,
    /// What its credentials are good for.
    pub scopes: BTreeSet<Scope>,
}

/// What kind of caller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallerKind {
    /// A person.
    #[default]
    User,
    /// A program that acts for a person.
    Agent,
    /// A program that acts for itself.
    Service,
}

impl CallerKind {
    /// Its name in settings, claims and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Service => "service",
        }
    }
}

/// What credentials are good for: OAuth scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Scope {
    /// Seeing which sources there are, their data cards, and asking for access to them.
    #[serde(rename = "sources.list")]
    List,
    /// Retrieving and refining.
    #[serde(rename = "sources.read")]
    Read,
    /// Writing.
    #[serde(rename = "sources.write")]
    Write,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::List, Self::Read, Self::Write];

    /// Its name in tokens and challenges.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "sources.list",
            Self::Read => "sources.read",
            Self::Write => "sources.write",
        }
    }

    /// The scope of that name; others are somebody else's.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

impl Caller {
    /// The one caller there is while `auth.mode` is `none`: nobody is told apart, so nobody has
    /// groups, and what a source's policy lets everybody do is all there is.
    pub fn anonymous() -> Self {
        Self {
            subject: "anonymous".to_owned(),
            kind: CallerKind::User,
            groups: BTreeSet::new(),
            scopes: BTreeSet::from(Scope::ALL),
        }
    }

    /// Whether its credentials are good for `scope`.
    pub fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }

    /// Whether it is a member of any of `groups`.
    pub fn is_in(&self, groups: &BTreeSet<String>) -> bool {
        !self.groups.is_disjoint(groups)
    }
}
