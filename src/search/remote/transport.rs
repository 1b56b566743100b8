//! Asking a service over HTTP, from threads that wait for the answer.

use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use reqwest::{Client, Response, StatusCode, header, redirect};
use tokio::runtime::{Builder, Runtime};

use super::{
    options::Endpoint,
    retry::{self, Patience},
    trouble::Trouble,
};

/// Time for a connection: a host that does not exist should not cost a query its time.
const CONNECT: Duration = Duration::from_secs(3);

/// What is read of an answer that says no.
const REFUSAL: usize = 4096;

/// The HTTP client that remote models share.
///
/// It is reqwest, which the MCP client needs anyway: nothing more is built for it. That is async, and
/// embedding is done on threads that may wait, so requests run on a runtime of their own with one
/// thread, and the caller waits on a channel. The server's own runtime would do as well, were it not
/// that waiting for it from one of its async threads panics, and that commands and tests bring
/// runtimes of other kinds.
pub struct Transport {
    client: Client,
    /// Always there until dropped.
    runtime: Option<Runtime>,
}

/// One request, however often it takes.
pub(super) struct Call<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) body: &'a serde_json::Value,
    /// Longest answer read, in bytes.
    pub(super) longest: usize,
    pub(super) patience: Patience,
    /// Whether what a refusal says may be logged: services quote the texts they refuse.
    pub(super) quotable: bool,
}

impl Transport {
    /// A client without connections yet.
    ///
    /// # Errors
    /// If the system gives no thread, or TLS cannot be set up.
    pub fn new() -> Result<Arc<Self>, String> {
        // Commands have installed it already; a second time changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .connect_timeout(CONNECT)
            // A redirect would take texts and key to an address nobody configured.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("askback/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| format!("setting up the client of remote models: {error}"))?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("remote-models")
            .enable_all()
            .build()
            .map_err(|error| format!("starting the thread of remote models: {error}"))?;
        Ok(Arc::new(Self { client, runtime: Some(runtime) }))
    }

    /// The body of the answer. Waits for it.
    pub(super) fn post(&self, call: &Call<'_>) -> Result<Vec<u8>, Trouble> {
        let gone = || Trouble::Unreachable("the client stopped".to_owned());
        let Call { endpoint, body, longest, patience, quotable } = *call;
        let mut request = self
            .client
            .post(endpoint.url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .body(body.to_string());
        if let Some(key) = &endpoint.key {
            request = request.bearer_auth(key.reveal());
        }
        let request = request.build().map_err(|error| Trouble::Unreachable(causes(&error)))?;
        let key = endpoint.key.clone();
        let client = self.client.clone();
        let (answer, answered) = mpsc::sync_channel(1);
        self.runtime.as_ref().ok_or_else(gone)?.spawn(async move {
            let mut result = persist(&client, &request, longest, patience).await;
            if let Err(Trouble::Refused { said, .. }) = &mut result {
                // A service that quotes the key it refuses must not get it into the log.
                let cleaned = |said: String| key.map_or(said.clone(), |key| said.replace(key.reveal(), "…"));
                *said = said.take().filter(|_| quotable).map(cleaned);
            }
            let _ = answer.send(result);
        });
        answered.recv().unwrap_or_else(|_| Err(gone()))
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        // Not waited for: this may be an async thread, which must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Tries until it works, cannot work, or patience ends.
async fn persist(
    client: &Client,
    request: &reqwest::Request,
    longest: usize,
    patience: Patience,
) -> Result<Vec<u8>, Trouble> {
    let started = Instant::now();
    let left = || patience.total.map_or(Duration::MAX, |total| total.saturating_sub(started.elapsed()));
    let mut attempt = 0;
    loop {
        let limit = patience.attempt.min(left());
        let again =
            request.try_clone().ok_or_else(|| Trouble::Unreachable("the request is gone".to_owned()))?;
        let trouble = match tokio::time::timeout(limit, once(client, again, longest)).await {
            Ok(Ok(body)) => return Ok(body),
            Ok(Err(trouble)) => trouble,
            Err(_) => Trouble::Slow(patience.attempt),
        };
        if attempt >= patience.retries || !trouble.is_passing() {
            return Err(trouble);
        }
        let asked = match &trouble {
            Trouble::Failing { retry_after, .. } => *retry_after,
            _ => None,
        };
        let wait = retry::wait(attempt, asked);
        if wait >= left() {
            return Err(trouble);
        }
        tokio::time::sleep(wait).await;
        attempt += 1;
    }
}

async fn once(client: &Client, request: reqwest::Request, longest: usize) -> Result<Vec<u8>, Trouble> {
    let mut response = client.execute(request).await.map_err(|error| Trouble::Unreachable(causes(&error)))?;
    let status = response.status();
    if status.is_success() {
        return body(&mut response, longest).await?.ok_or_else(|| {
            Trouble::Unsound(format!("an answer longer than the {longest} bytes such an answer can take"))
        });
    }
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        let retry_after = response.headers().get(header::RETRY_AFTER).and_then(retry::retry_after);
        return Err(Trouble::Failing { status: status.as_u16(), retry_after });
    }
    let said = body(&mut response, REFUSAL).await.ok().flatten().and_then(|body| said(&body));
    Err(Trouble::Refused { status: status.as_u16(), said })
}

/// The body, or `None` if it is too long.
async fn body(response: &mut Response, longest: usize) -> Result<Option<Vec<u8>>, Trouble> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| Trouble::Unreachable(causes(&error)))? {
        if body.len() + chunk.len() > longest {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

/// The message in an answer that says no, where the common services put it.
fn said(body: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(body).ok()?;
    let message = ["/error/message", "/message", "/detail", "/error"]
        .iter()
        .find_map(|pointer| value.pointer(pointer).and_then(serde_json::Value::as_str))?;
    Some(crate::text::excerpt(message, 200))
}

/// An error and what it came from, without the address: that is known, and may be private.
fn causes(error: &reqwest::Error) -> String {
    let mut source = std::error::Error::source(error);
    let mut innermost = None;
    while let Some(error) = source {
        innermost = Some(error.to_string());
        source = error.source();
    }
    innermost.unwrap_or_else(|| "the connection failed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_understood_wherever_they_say_why() {
        assert_eq!(said(br#"{"error": {"message": "no such\nmodel"}}"#).as_deref(), Some("no such model"));
        assert_eq!(said(br#"{"detail": "no"}"#).as_deref(), Some("no"));
        assert_eq!(said(br#"{"error": "no"}"#).as_deref(), Some("no"));
        assert_eq!(said(br#"{"detail": [{"msg": "no"}]}"#), None);
        assert_eq!(said(b"<html>"), None);
    }

    #[tokio::test]
    async fn waiting_on_an_async_thread_and_being_dropped_there_is_survived() {
        let transport = Transport::new().unwrap();
        let endpoint = Endpoint {
            section: "embedding",
            // Port 9 (discard) of this machine: nobody listens.
            url: "http://127.0.0.1:9/v1/embeddings".parse().unwrap(),
            model: "m".to_owned(),
            key: None,
        };
        let patience = Patience { attempt: Duration::from_secs(2), total: None, retries: 0 };
        let body = serde_json::json!({});
        let call = Call { endpoint: &endpoint, body: &body, longest: 10, patience, quotable: true };
        assert!(matches!(transport.post(&call), Err(Trouble::Unreachable(_))));
    }
}
