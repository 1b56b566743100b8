//! Whether and how the user behind a request can be reached.

use rmcp::{RoleServer, model::ProtocolVersion, service::RequestContext};

use crate::{config::Clarify, dialogue::Silence};

/// How a question gets to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// In the result: the client calls again with the answer.
    Stateless,
    /// By a request of ours on the call's own stream.
    BackChannel {
        /// Whether options carry titles by `oneOf`; before 2025-11-25 by `enumNames`.
        titled: bool,
    },
    /// Not at all.
    Nobody {
        /// Why.
        why: Silence,
        /// Whether the request is of the stateless era: it may still carry a state to check.
        modern: bool,
    },
}

impl Reach {
    pub(super) fn of(context: &RequestContext<RoleServer>, settings: &Clarify) -> Self {
        let version = context.protocol_version();
        // ISO dates compare as text.
        let at_least =
            |wanted: ProtocolVersion| version.as_ref().is_some_and(|v| v.as_str() >= wanted.as_str());
        let modern = at_least(ProtocolVersion::V_2026_07_28);
        let skipped = context
            .client_info()
            .is_some_and(|client| settings.skip_clients.contains(&client.name.to_lowercase()));
        if !settings.enabled || skipped {
            return Self::Nobody { why: Silence::Disabled, modern };
        }
        // An empty elicitation capability means forms; one that only names URLs does not.
        let forms = context
            .client_capabilities()
            .and_then(|capabilities| capabilities.elicitation)
            .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
        if !forms {
            return Self::Nobody { why: Silence::Unsupported, modern };
        }
        if modern {
            return Self::Stateless;
        }
        // Elicitation came with 2025-06-18, and a request of ours needs a session to be answered in.
        let session = context
            .extensions
            .get::<axum::http::request::Parts>()
            .is_some_and(|parts| parts.headers.contains_key("mcp-session-id"));
        if session && at_least(ProtocolVersion::V_2025_06_18) {
            return Self::BackChannel { titled: at_least(ProtocolVersion::V_2025_11_25) };
        }
        Self::Nobody { why: Silence::Unsupported, modern: false }
    }
}
