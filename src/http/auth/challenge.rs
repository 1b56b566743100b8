//! What a client is told that has no token, or not the right one: RFC 6750, section 3, with the
//! pointer to the metadata of RFC 9728, section 5.1.

use std::collections::BTreeSet;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use serde_json::json;

use crate::{
    access::Scope,
    http::refusal::{refuse, refuse_for_now},
    identity::Denied,
    service::Code,
};

/// Seconds after which an issuer that was away is tried again.
const ISSUER_AWAY: u64 = 10;

/// Writes challenges.
#[derive(Debug, Clone)]
pub(super) struct Challenge {
    /// Where the metadata is, if there is an issuer to be found there.
    metadata: Option<String>,
}

impl Challenge {
    pub(super) fn new(metadata: Option<String>) -> Self {
        Self { metadata }
    }

    /// The answer to a request without a caller.
    pub(super) fn denied(&self, denied: Denied) -> Response {
        let message = denied.to_string();
        let (code, error) = match denied {
            Denied::Unavailable => {
                return refuse_for_now(
                    StatusCode::SERVICE_UNAVAILABLE,
                    Code::BackendUnavailable,
                    &message,
                    ISSUER_AWAY,
                );
            }
            // Whoever sent nothing made no mistake that has a name.
            Denied::Missing => (Code::AuthInvalid, None),
            Denied::Invalid(_) => (Code::AuthInvalid, Some("invalid_token")),
            Denied::Expired => (Code::AuthExpired, Some("invalid_token")),
        };
        let mut response = refuse(StatusCode::UNAUTHORIZED, code, &message, json!({}));
        let usual = BTreeSet::from([Scope::List, Scope::Read]);
        self.add(&mut response, error.map(|error| (error, message.as_str())), &usual);
        response
    }

    /// The answer to a caller whose token is good, but not for this. `scopes` are those it should get.
    pub(super) fn insufficient(&self, scopes: &BTreeSet<Scope>) -> Response {
        let names = names(scopes);
        let message = format!("your token lacks a scope this call needs; get one for: {names}");
        let mut response = refuse(
            StatusCode::FORBIDDEN,
            Code::AccessDenied,
            &message,
            json!({"error": "insufficient_scope", "scope": names}),
        );
        self.add(&mut response, Some(("insufficient_scope", &message)), scopes);
        response
    }

    fn add(&self, response: &mut Response, error: Option<(&str, &str)>, scopes: &BTreeSet<Scope>) {
        let mut parts = Vec::new();
        if let Some((error, description)) = error {
            // Backquotes are the only characters of the messages that a quoted text does not take well.
            let description = description.replace(['"', '\\'], "'");
            parts.push(format!("error=\"{error}\""));
            parts.push(format!("error_description=\"{description}\""));
        }
        if let Some(metadata) = &self.metadata {
            parts.push(format!("resource_metadata=\"{metadata}\""));
        }
        parts.push(format!("scope=\"{}\"", names(scopes)));
        let value: String = format!("Bearer {}", parts.join(", ")).chars().filter(char::is_ascii).collect();
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        }
    }
}

fn names(scopes: &BTreeSet<Scope>) -> String {
    scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(" ")
}
