//! What a use case says when it cannot do what was asked. The codes are a contract with agents:
//! one closed list, never reworded.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    access::{Refusal, Scope},
    limits::{Exceeded, whole_seconds},
    sources::SourceError,
    store::StoreError,
};

/// Every code a tool can fail with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// An argument is missing, of the wrong type, out of range, or unknown.
    InvalidArgument,
    /// No such source, or none this caller may know of.
    SourceNotFound,
    /// The source exists but is not published yet.
    SourceNotPublished,
    /// The source is no longer served.
    SourceRetired,
    /// The caller may not do this.
    AccessDenied,
    /// Nothing is stored under the reference.
    ReferenceNotFound,
    /// The source does not offer the refine strategy.
    StrategyNotSupported,
    /// The source, or what stands behind it, cannot answer now.
    BackendUnavailable,
    /// The source takes no writes.
    WriteNotAllowed,
    /// The source does not take this kind of write.
    WriteModeNotAllowed,
    /// The content breaks the source's rules.
    WriteValidationFailed,
    /// The caller's token lacks the scope for writes.
    WriteScopeRequired,
    /// The write does not say where its content comes from.
    WriteProvenanceRequired,
    /// The idempotency key was used for other content.
    WriteIdempotencyConflict,
    /// The credentials are not valid.
    AuthInvalid,
    /// The credentials have expired.
    AuthExpired,
    /// Too many calls.
    RateLimited,
    /// The call took too long.
    Timeout,
    /// Something broke on our side.
    InternalError,
}

/// A failed use case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Failure {
    /// The stable code.
    pub code: Code,
    /// What is wrong and what to do next, for the agent. Holds no path, no backtrace, no secret.
    pub message: String,
    /// Anything a program could act on.
    pub details: Value,
}

impl Failure {
    /// A failure without details.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: json!({}) }
    }

    /// The same with details.
    #[must_use]
    pub fn with(mut self, details: Value) -> Self {
        self.details = details;
        self
    }

    /// An argument that will not do. `message` says what would.
    pub fn argument(field: &str, message: impl std::fmt::Display) -> Self {
        Self::new(Code::InvalidArgument, format!("{field}: {message}")).with(json!({ "field": field }))
    }

    /// A slug that names no source, with the nearest ones that do.
    pub(super) fn unknown_source<'a>(slug: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let nearest = crate::text::nearest(slug, known, 3);
        let shown = crate::text::excerpt(slug, 64);
        let next = match nearest.first() {
            Some(best) => format!("did you mean `{best}`?"),
            None => "list_sources shows what there is".to_owned(),
        };
        Self::new(Code::SourceNotFound, format!("there is no source `{shown}`; {next}"))
            .with(json!({ "source": shown, "nearest": nearest }))
    }

    /// What a caller is told who may not do what it asked of the source `slug`. A source it may not
    /// know of is the caller's business to look up as one that does not exist.
    pub(super) fn refused(slug: &str, refusal: Refusal) -> Self {
        let failure = match refusal {
            Refusal::Hidden => Self::unknown_source(slug, std::iter::empty()),
            Refusal::NotPublished => Self::new(
                Code::SourceNotPublished,
                format!("source `{slug}` is not published yet; its data card says what it will hold"),
            ),
            Refusal::Retired => Self::new(
                Code::SourceRetired,
                format!("source `{slug}` is retired and no longer answers; list_sources shows what does"),
            ),
            Refusal::Denied { requestable: true } => Self::new(
                Code::AccessDenied,
                format!("you do not have this access to source `{slug}`; request_access asks its owner"),
            ),
            Refusal::Denied { requestable: false } => Self::new(
                Code::AccessDenied,
                format!("you do not have this access to source `{slug}`, and it cannot be asked for here"),
            ),
            Refusal::Scope(scope) => return Self::scope(scope).with_also("source", slug),
            Refusal::WritesNotAllowed => Self::new(
                Code::WriteNotAllowed,
                format!("source `{slug}` takes no writes; its owner decides what goes into it"),
            ),
            Refusal::ModeNotAllowed => Self::new(
                Code::WriteModeNotAllowed,
                format!("source `{slug}` does not take writes in this mode; use one of details.modes"),
            ),
        };
        match refusal {
            Refusal::Hidden => failure,
            Refusal::Denied { requestable } => {
                failure.with(json!({ "source": slug, "requestable": requestable }))
            }
            _ => failure.with(json!({ "source": slug })),
        }
    }

    /// Credentials that are not good for what was asked.
    pub(super) fn scope(scope: Scope) -> Self {
        let code = if scope == Scope::Write { Code::WriteScopeRequired } else { Code::AccessDenied };
        let name = scope.name();
        Self::new(code, format!("your credentials lack the scope {name}; get ones that have it"))
            .with(json!({ "scope": name }))
    }

    /// The same with one more detail.
    #[must_use]
    pub(super) fn with_also(mut self, key: &str, value: impl Into<Value>) -> Self {
        if let Some(details) = self.details.as_object_mut() {
            details.insert(key.to_owned(), value.into());
        }
        self
    }

    /// The state store cannot be used: nobody can tell who may do what.
    pub(super) fn store(error: &StoreError) -> Self {
        tracing::error!(%error, "the state store cannot be used");
        Self::new(
            Code::BackendUnavailable,
            "what this call depends on cannot be looked up now; try again shortly, and tell the operator if it \
             goes on",
        )
    }

    /// What a source said, in a caller's words. Internal errors are logged, not shown.
    pub(super) fn from_source(slug: &str, error: &SourceError) -> Self {
        match error {
            SourceError::ReferenceNotFound(reference) => {
                let shown = crate::text::excerpt(&reference.to_string(), 200);
                Self::new(
                    Code::ReferenceNotFound,
                    format!("nothing is stored under `{shown}`; take a reference from a hit of retrieve, or retrieve again if it is old"),
                )
                .with(json!({ "reference": shown }))
            }
            SourceError::StrategyNotSupported { strategy, supported } => Self::new(
                Code::StrategyNotSupported,
                format!("`{slug}` does not offer `{strategy}`; use auto or one of details.supported"),
            )
            .with(json!({ "supported": supported })),
            SourceError::TakesNoWrites => Self::new(
                Code::WriteNotAllowed,
                format!(
                    "sources of the kind of `{slug}` take no writes; its owner decides what goes into it"
                ),
            )
            .with(json!({ "source": slug })),
            SourceError::Rejected(why) => {
                Self::new(Code::WriteValidationFailed, why).with(json!({ "source": slug }))
            }
            SourceError::Unavailable(why) => Self::new(
                Code::BackendUnavailable,
                format!("source `{slug}` cannot answer now: {why}; try again shortly"),
            )
            .with(json!({ "source": slug })),
            SourceError::Internal(what) => {
                tracing::error!(source = slug, error = what, "source failed");
                Self::new(
                    Code::InternalError,
                    format!("source `{slug}` failed; try again, and tell its operator if it goes on"),
                )
                .with(json!({ "source": slug }))
            }
        }
    }
}

impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        let message = exceeded.to_string();
        let (limit, retry_after) = match exceeded {
            Exceeded::Rate { limit, retry_after, .. } | Exceeded::Busy { limit, retry_after } => {
                (limit, retry_after)
            }
            Exceeded::Slow { after } => {
                return Self::new(
                    Code::Timeout,
                    format!(
                        "{message}; narrow it down or try again. A write may have been done: repeat it with the same \
                         idempotency_key"
                    ),
                )
                .with(json!({ "limit": "limits.call_timeout", "seconds": whole_seconds(after) }));
            }
        };
        Self::new(Code::RateLimited, message)
            .with(json!({ "limit": limit, "retry_after_seconds": whole_seconds(retry_after) }))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_limit_is_named_with_the_time_to_come_back() {
        let retry_after = Duration::from_millis(1500);
        let rate = Exceeded::Rate { limit: "limits.reads_per_minute", per_minute: 40, retry_after };
        let failure = Failure::from(rate);
        assert_eq!(failure.code, Code::RateLimited);
        assert_eq!(
            failure.message,
            "you have reached 40 calls a minute (limits.reads_per_minute); try again in 2 s"
        );
        assert_eq!(failure.details, json!({"limit": "limits.reads_per_minute", "retry_after_seconds": 2}));
        let busy = Failure::from(Exceeded::Busy { limit: "limits.queue_wait", retry_after });
        assert_eq!((busy.code, &busy.details["retry_after_seconds"]), (Code::RateLimited, &json!(2)));
        let slow = Failure::from(Exceeded::Slow { after: Duration::from_secs(30) });
        assert_eq!(slow.code, Code::Timeout);
        assert_eq!(slow.details, json!({"limit": "limits.call_timeout", "seconds": 30}));
    }
}
