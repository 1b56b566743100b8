//! Sessions of clients of 2025-11-25 and before: how many there are, and whose each is. The SDK keeps
//! them; this keeps one caller out of another's, whose questions and answers pass through it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, StatusCode},
    middleware::Next,
    response::Response,
};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::json;

use super::{
    body::Messages,
    refusal::{refuse, refuse_for_now},
};
use crate::{access::Caller, service::Code};

const HEADER: &str = "mcp-session-id";

/// Seconds after which a session that nobody uses any more is likely to have ended.
const FULL: u64 = 60;

/// Whose each session is.
#[derive(Clone)]
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    /// Session id to subject.
    owners: Arc<Mutex<HashMap<String, String>>>,
    most: usize,
}

impl Sessions {
    /// At most `most` of them at a time.
    pub(super) fn new(manager: Arc<LocalSessionManager>, most: usize) -> Self {
        Self { manager, owners: Arc::default(), most }
    }

    fn is_of(&self, id: &str, subject: &str) -> bool {
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.get(id).is_some_and(|owner| owner == subject)
    }

    /// Notes whose a new session is, and forgets those that have ended.
    async fn note(&self, id: String, subject: String) {
        let open = self.manager.sessions.read().await;
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|id, _| open.contains_key(id.as_str()));
        owners.insert(id, subject);
    }

    async fn is_full(&self) -> bool {
        self.manager.sessions.read().await.len() >= self.most
    }
}

/// The layer. Comes after the one that finds out who the caller is.
pub(super) async fn bind(State(sessions): State<Sessions>, request: Request, next: Next) -> Response {
    let subject =
        request.extensions().get::<Caller>().map(|caller| caller.subject.clone()).unwrap_or_default();
    if let Some(id) = id(request.headers()) {
        if !sessions.is_of(&id, &subject) {
            // The same for one that never was: a 404 is what tells a client to begin a new one.
            let message = "there is no such session; begin a new one with initialize";
            return refuse(StatusCode::NOT_FOUND, Code::InvalidArgument, message, json!({"field": HEADER}));
        }
        return next.run(request).await;
    }
    let begins = request
        .extensions()
        .get::<Messages>()
        .is_some_and(|messages| messages.iter().any(|message| message.method == "initialize"));
    if begins && sessions.is_full().await {
        let message = "there are as many sessions as this server keeps; try again shortly, or speak 2026-07-28, which \
                       needs none";
        return refuse_for_now(StatusCode::SERVICE_UNAVAILABLE, Code::RateLimited, message, FULL);
    }
    let response = next.run(request).await;
    if let Some(id) = id(response.headers()) {
        sessions.note(id, subject).await;
    }
    response
}

fn id(headers: &HeaderMap) -> Option<String> {
    // Bytes that are no text make an id that no session has.
    headers.get(HEADER).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned())
}
