//! Who sends a request, established before anything else looks at it.

mod bearer;
mod challenge;
pub(super) mod metadata;
mod scope;

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};

use self::challenge::Challenge;
use super::body::Messages;
use crate::identity::Identity;

/// What the layers need.
#[derive(Clone)]
pub(super) struct Gate {
    identity: Arc<Identity>,
    challenge: Challenge,
    /// Whether a client that lacks a scope can get a token that has it.
    steps_up: bool,
}

impl Gate {
    pub(super) fn new(identity: Arc<Identity>) -> Self {
        let resource = match identity.as_ref() {
            Identity::Jwt(jwt) => Some(&jwt.options().resource),
            Identity::Anonymous | Identity::Tokens(_) => None,
        };
        let challenge = Challenge::new(resource.map(metadata::address));
        Self { steps_up: resource.is_some(), challenge, identity }
    }
}

/// The layer that finds out who it is, and leaves the [`Caller`](crate::access::Caller) with the request.
pub(super) async fn identify(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    let token = bearer::token(request.headers());
    let caller = match token {
        Ok(token) => gate.identity.caller(token).await,
        Err(denied) => Err(denied),
    };
    match caller {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(denied) => {
            // Never the token, nor anything in it: nobody vouches for what it says.
            tracing::info!(%denied, "request without a caller");
            gate.challenge.denied(denied)
        }
    }
}

/// The layer that sends clients back for a better token. Only where they can get one: a listed token
/// is what it is, and its holder's agent understands a tool's failure better than a refused request.
pub(super) async fn require_scopes(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    if gate.steps_up {
        let needed = request.extensions().get::<Messages>().map(scope::needed).unwrap_or_default();
        let held = request.extensions().get::<crate::access::Caller>().map(|caller| caller.scopes.clone());
        let held = held.unwrap_or_default();
        if !needed.is_subset(&held) {
            // With what it has, or the next token would lack that instead.
            return gate.challenge.insufficient(&(&needed | &held));
        }
    }
    next.run(request).await
}
