//! `request_access`: asking a source's owner for access.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{Failure, Service, view::View};
use crate::{
    access::{Access, Caller, Held, Refusal, Scope, Standing},
    sources::registry::Entry,
    store::state::{AccessRequest, Grant, NewRequest, RequestStatus},
};

/// Longest reason, in characters.
const MAX_REASON: usize = 2000;

/// Arguments of `request_access`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestAccess {
    /// Slug of the source.
    pub source: String,
    /// What for; write includes read.
    pub access: Access,
    /// Why, for the owner to decide by.
    #[schemars(length(min = 1, max = 2000))]
    pub reason: String,
    /// For how many days.
    #[serde(default)]
    #[schemars(range(min = 1, max = 365))]
    pub days: Option<u32>,
}

/// What became of a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccessRequested {
    /// Identifies this call in logs.
    pub request_id: String,
    /// What it came to.
    pub status: RequestOutcome,
    /// The request's number, as its owner sees it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access_request: Option<u64>,
    /// When access that was granted lapses, RFC 3339 in UTC; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// What the owner decided the last time you asked for this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_decision: Option<LastDecision>,
}

/// What a request came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RequestOutcome {
    /// The owner has to decide. Call the tool you wanted to call again later.
    Pending,
    /// You had asked for this before, and the owner has not decided yet.
    AlreadyPending,
    /// You have the access.
    AlreadyGranted,
}

/// What an owner decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LastDecision {
    /// approved or denied. Access that was approved may have lapsed or been revoked since.
    pub decision: &'static str,
    /// When, RFC 3339 in UTC.
    pub decided_at: Option<String>,
    /// Why, in the owner's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl LastDecision {
    fn of(request: AccessRequest) -> Option<Self> {
        let decision = match request.status {
            RequestStatus::Pending => return None,
            RequestStatus::Approved => "approved",
            RequestStatus::Denied => "denied",
        };
        Some(Self { decision, decided_at: request.decided_at, why: request.why })
    }
}

impl Service {
    /// Asks a source's owner for access, unless the caller has it or has asked already.
    ///
    /// # Errors
    /// `source_not_found`, `invalid_argument`, `source_not_published`, `source_retired`,
    /// `write_not_allowed`, or `access_denied` where asking is not possible.
    pub async fn request_access(
        &self,
        caller: &Caller,
        request: &RequestAccess,
        request_id: &str,
    ) -> Result<AccessRequested, Failure> {
        let view = self.view(caller, Scope::List, request_id).await?;
        let entry = view.entry(&request.source)?;
        let reason = request.reason.trim();
        if reason.is_empty() || reason.chars().count() > MAX_REASON {
            return Err(Failure::argument("reason", "say in 1 to 2000 characters what the access is for"));
        }
        if request.days.is_some_and(|days| !(1..=365).contains(&days)) {
            return Err(Failure::argument(
                "days",
                "must be from 1 to 365; leave it out for access without an end",
            ));
        }
        let standing = view.standing(entry);
        match standing.request(request.access) {
            Ok(()) => {}
            Err(refusal @ Refusal::Denied { .. }) => {
                return Err(view.refuse(entry, refusal, "request").await);
            }
            Err(refusal) => return Err(Failure::refused(entry.slug(), refusal)),
        }
        if standing.has(request.access) {
            return Ok(AccessRequested {
                request_id: request_id.to_owned(),
                status: RequestOutcome::AlreadyGranted,
                access_request: None,
                expires_at: lapses(&view, entry, standing, request.access),
                last_decision: None,
            });
        }
        let new = NewRequest {
            caller: view.actor(),
            source: entry.slug().to_owned(),
            access: request.access,
            reason: reason.to_owned(),
            days: request.days,
            request_id: request_id.to_owned(),
            notify: self.notify,
        };
        let made = self.stored(move |state| state.request(&new, OffsetDateTime::now_utc())).await?;
        Ok(AccessRequested {
            request_id: request_id.to_owned(),
            status: if made.new { RequestOutcome::Pending } else { RequestOutcome::AlreadyPending },
            access_request: Some(made.request.id),
            expires_at: None,
            last_decision: made.before.and_then(LastDecision::of),
        })
    }
}

/// When access that the caller has lapses: never, if it does not rest on a grant.
fn lapses(view: &View<'_>, entry: &Entry, standing: Standing<'_>, access: Access) -> Option<String> {
    if (Standing { held: Held::Nothing, ..standing }).has(access) {
        return None;
    }
    let enough = |grant: &&Grant| {
        let held = Held::on(entry.slug(), std::slice::from_ref(*grant));
        (Standing { held, ..standing }).has(access)
    };
    let mut ends = view.grants.iter().filter(enough);
    let first = ends.next()?.expires_at.clone()?;
    // Times of one form compare as texts; a grant without an end outlasts all others.
    ends.try_fold(first, |last, grant| Some(last.max(grant.expires_at.clone()?)))
}
