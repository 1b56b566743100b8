//! What a use case says when it cannot do what was asked. The codes are a contract with agents:
//! one closed list, never reworded.

use serde::Serialize;
use serde_json::{Value, json};

use crate::sources::SourceError;

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
