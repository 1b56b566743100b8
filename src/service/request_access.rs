//! `request_access`: asking an owner for access. Every source is readable by every caller and
//! none takes writes so far, so there is nothing to ask for but reading, which is granted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Code, Failure, Service};
use crate::access::Caller;

/// Arguments of `request_access`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestAccess {
    /// Slug of the source.
    pub source: String,
    /// What for.
    pub access: Access,
    /// Why, for the owner to decide by.
    #[schemars(length(min = 1, max = 2000))]
    pub reason: String,
    /// For how many days.
    #[serde(default)]
    #[schemars(range(min = 1, max = 365))]
    pub days: Option<u32>,
}

/// What access is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Retrieve and refine.
    Read,
    /// Write.
    Write,
}

/// What became of a request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AccessRequested {
    /// Identifies this call in logs.
    pub request_id: String,
    /// pending, already_pending or already_granted.
    pub status: &'static str,
    /// When the grant lapses, RFC 3339 in UTC; absent if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

impl Service {
    /// Says what is true of every source so far: reading is granted, writing is not to be had.
    ///
    /// # Errors
    /// `source_not_found`; `invalid_argument`; `write_not_allowed` for write access.
    pub fn request_access(
        &self,
        caller: &Caller,
        request: &RequestAccess,
        request_id: &str,
    ) -> Result<AccessRequested, Failure> {
        let entry = self.source(caller, &request.source)?;
        if request.reason.trim().is_empty() || request.reason.chars().count() > 2000 {
            return Err(Failure::argument("reason", "say in 1 to 2000 characters what the access is for"));
        }
        if request.days.is_some_and(|days| !(1..=365).contains(&days)) {
            return Err(Failure::argument(
                "days",
                "must be from 1 to 365; leave it out for access without an end",
            ));
        }
        match request.access {
            Access::Read => Ok(AccessRequested {
                request_id: request_id.to_owned(),
                status: "already_granted",
                expires_at: None,
            }),
            Access::Write => Err(Failure::new(
                Code::WriteNotAllowed,
                format!("source `{}` takes no writes, so write access to it cannot be granted", entry.slug()),
            )
            .with(json!({ "source": entry.slug() }))),
        }
    }
}
