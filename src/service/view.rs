//! The sources as one caller sees them. Every use case looks at sources through here and nowhere else:
//! what a caller may not know of is not there.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::{Code, Failure, Service};
use crate::{
    access::{Caller, Held, Refusal, Scope, Standing},
    sources::registry::{Entry, Registry},
    store::{
        StoreError,
        state::{Actor, Event, Grant, StateStore},
    },
};

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

/// The registry as one caller sees it, for the length of one call.
pub(super) struct View<'a> {
    registry: &'a Registry,
    state: &'a Arc<dyn StateStore>,
    pub(super) caller: &'a Caller,
    /// The caller's grants that are in force.
    pub(super) grants: Vec<Grant>,
    pub(super) request_id: &'a str,
}

impl Service {
    /// The sources as `caller` sees them, if its credentials are good for `scope`.
    pub(super) async fn view<'a>(
        &'a self,
        caller: &'a Caller,
        scope: Scope,
        request_id: &'a str,
    ) -> Result<View<'a>, Failure> {
        let view = self.view_of(caller, request_id).await?;
        if caller.has(scope) { Ok(view) } else { Err(Failure::scope(scope)) }
    }

    /// The sources as `caller` sees them, whatever its credentials are good for.
    pub(super) async fn view_of<'a>(
        &'a self,
        caller: &'a Caller,
        request_id: &'a str,
    ) -> Result<View<'a>, Failure> {
        let subject = caller.subject.clone();
        let grants = self.stored(move |state| state.grants(&subject, OffsetDateTime::now_utc())).await?;
        Ok(View { registry: &self.registry, state: &self.state, caller, grants, request_id })
    }

    /// Uses the state store off the async threads.
    pub(super) async fn stored<R: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn StateStore) -> Result<R, StoreError> + Send + 'static,
    ) -> Result<R, Failure> {
        blocking(&self.state, work).await
    }
}

async fn blocking<R: Send + 'static>(
    state: &Arc<dyn StateStore>,
    work: impl FnOnce(&dyn StateStore) -> Result<R, StoreError> + Send + 'static,
) -> Result<R, Failure> {
    let state = Arc::clone(state);
    match tokio::task::spawn_blocking(move || work(state.as_ref())).await {
        Ok(result) => result.map_err(|error| Failure::store(&error)),
        Err(error) => {
            tracing::error!(%error, "a worker died");
            Err(Failure::new(Code::InternalError, "something broke on the server's side; try again"))
        }
    }
}

impl<'a> View<'a> {
    /// The caller before a source.
    pub(super) fn standing(&self, entry: &'a Entry) -> Standing<'a> {
        let held = Held::on(entry.slug(), &self.grants);
        Standing { policy: &entry.config().policy, caller: self.caller, held }
    }

    /// The sources the caller may know of, in the order of the configuration.
    pub(super) fn visible(&self) -> impl Iterator<Item = &'a Entry> {
        self.registry.entries().iter().filter(|entry| self.standing(entry).sees())
    }

    /// The source called `slug`, whatever the caller may do with it. One it may not know of is looked
    /// up and missed just as one that does not exist.
    pub(super) fn entry(&self, slug: &str) -> Result<&'a Entry, Failure> {
        self.visible()
            .find(|entry| entry.slug() == slug)
            .ok_or_else(|| Failure::unknown_source(slug, self.visible().map(Entry::slug)))
    }

    /// The source called `slug`, for reading.
    pub(super) async fn readable(&self, slug: &str) -> Result<&'a Entry, Failure> {
        let entry = self.entry(slug)?;
        match self.standing(entry).read() {
            Ok(()) => Ok(entry),
            Err(refusal) => Err(self.refuse(entry, refusal, "read").await),
        }
    }

    /// The sources `selector` means, each once, in the order named: all of them readable.
    pub(super) async fn select(&self, selector: &Selector) -> Result<Vec<&'a Entry>, Failure> {
        let slugs: Vec<&str> = match selector {
            Selector::One(slug) if slug == "*" => return self.all_readable(),
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
            let entry = self.readable(slug).await?;
            if !entries.iter().any(|earlier| earlier.slug() == entry.slug()) {
                entries.push(entry);
            }
        }
        Ok(entries)
    }

    fn all_readable(&self) -> Result<Vec<&'a Entry>, Failure> {
        let readable: Vec<&Entry> =
            self.visible().filter(|entry| self.standing(entry).read().is_ok()).collect();
        // Without any source at all there is just nothing to find.
        if readable.is_empty() && self.visible().next().is_some() {
            if !self.caller.has(Scope::Read) {
                return Err(Failure::scope(Scope::Read));
            }
            return Err(Failure::new(
                Code::AccessDenied,
                "you may read none of the sources; list_sources shows those that request_access can ask for",
            ));
        }
        Ok(readable)
    }

    /// Refuses, and puts down in the audit record that somebody was kept out.
    pub(super) async fn refuse(&self, entry: &Entry, refusal: Refusal, wanted: &'static str) -> Failure {
        let why = match refusal {
            Refusal::Denied { .. } => Some("no_access"),
            Refusal::Scope(_) => Some("scope"),
            _ => None,
        };
        if let Some(why) = why {
            let event = Event {
                name: "access.refused".to_owned(),
                actor: self.actor(),
                source: entry.slug().to_owned(),
                request_id: self.request_id.to_owned(),
                details: BTreeMap::from([
                    ("wanted".to_owned(), json!(wanted)),
                    ("why".to_owned(), json!(why)),
                ]),
            };
            let recorded =
                blocking(self.state, move |state| state.record(&event, OffsetDateTime::now_utc())).await;
            if let Err(failure) = recorded {
                return failure;
            }
        }
        let failure = Failure::refused(entry.slug(), refusal);
        match refusal {
            Refusal::ModeNotAllowed => {
                let modes: Vec<Value> =
                    entry.config().policy.write.modes.iter().map(|mode| json!(mode)).collect();
                failure.with_also("modes", modes)
            }
            _ => failure,
        }
    }

    /// The caller, for records.
    pub(super) fn actor(&self) -> Actor {
        Actor { subject: self.caller.subject.clone(), kind: self.caller.kind.name().to_owned() }
    }
}
