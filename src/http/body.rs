//! Reads a request's body once, so that everything behind has it whole: bounded in size and time, and
//! with a look at which messages it holds.

use std::{borrow::Cow, sync::Arc, time::Duration};

use axum::{
    body::{Body, to_bytes},
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::Next,
    response::Response,
};
use serde::Deserialize;
use serde_json::json;

use super::refusal::refuse;
use crate::service::Code;

/// How long a body may take to arrive. A call is a few KiB, so this is somebody who keeps a connection
/// busy.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which messages a body holds, for what is decided before the protocol reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Messages(Arc<[Message]>);

/// A message's method, and the tool if it calls one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) method: String,
    pub(super) tool: Option<String>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Bodies<'a> {
    #[serde(borrow)]
    One(Envelope<'a>),
    #[serde(borrow)]
    Batch(Vec<Envelope<'a>>),
}

impl Messages {
    /// Looks into a body. One that cannot be read holds none: the protocol says what is wrong with it.
    pub(super) fn of(body: &[u8]) -> Self {
        let bodies = match serde_json::from_slice(body) {
            Ok(Bodies::One(envelope)) => vec![envelope],
            Ok(Bodies::Batch(envelopes)) => envelopes,
            Err(_) => Vec::new(),
        };
        let message = |envelope: Envelope<'_>| Message {
            tool: (envelope.method == "tools/call")
                .then(|| envelope.params.and_then(|params| params.name).map(Cow::into_owned))
                .flatten(),
            method: envelope.method.into_owned(),
        };
        Self(bodies.into_iter().map(message).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Message> {
        self.0.iter()
    }
}

/// The layer: `most` is the longest body taken, in bytes.
pub(super) async fn read(State(most): State<usize>, request: Request, next: Next) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    let too_long = || {
        refuse(
            StatusCode::PAYLOAD_TOO_LARGE,
            Code::InvalidArgument,
            &format!("the request body may have {most} bytes at most; send less"),
            json!({"max_bytes": most}),
        )
    };
    let (mut parts, body) = request.into_parts();
    let body = match tokio::time::timeout(PATIENCE, to_bytes(body, most)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) if is_too_long(&error) => return too_long(),
        Ok(Err(_)) => {
            let message = "the request body broke off or is not well-formed; send it again";
            return refuse(StatusCode::BAD_REQUEST, Code::InvalidArgument, message, json!({}));
        }
        Err(_) => {
            let message = "the request body did not arrive in time; send it again";
            return refuse(StatusCode::REQUEST_TIMEOUT, Code::Timeout, message, json!({}));
        }
    };
    parts.extensions.insert(Messages::of(&body));
    next.run(Request::from_parts(parts, Body::from(body))).await
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(body: &str) -> Vec<(String, Option<String>)> {
        Messages::of(body.as_bytes()).iter().map(|m| (m.method.clone(), m.tool.clone())).collect()
    }

    #[test]
    fn methods_and_tools_are_seen_alone_and_in_batches() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"name":"x"}}}"#;
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"handbook-1"}}"#;
        let (called, listed) =
            (("tools/call".to_owned(), Some("write".to_owned())), ("prompts/get".to_owned(), None));
        assert_eq!(seen(&format!("[{call},{list}]")), [called, listed]);
        assert_eq!(seen(call), [("tools/call".to_owned(), Some("write".to_owned()))]);
        // Escapes are the same name.
        let escaped = r#"{"method":"tools\/call","params":{"name":"wr\u0069te"}}"#;
        assert_eq!(seen(escaped), [("tools/call".to_owned(), Some("write".to_owned()))]);
    }

    #[test]
    fn what_cannot_be_read_holds_no_message() {
        for body in ["", "{", "7", "\"tools/call\"", r#"{"method":7}"#, r#"{"method":"a","method":"b"}"#] {
            assert_eq!(seen(body), [], "{body}");
        }
        // An answer has no method.
        assert_eq!(seen(r#"{"id":1,"result":{}}"#), [(String::new(), None)]);
    }
}
