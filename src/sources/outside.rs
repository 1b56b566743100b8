//! Asking an outside service for JSON, within limits of time and size.

use std::time::Duration;

use reqwest::{Client, RequestBuilder, Url, redirect};
use serde_json::Value;

use super::SourceError;

/// Longest answer read, in bytes.
const LONGEST: usize = 8 << 20;

/// A client of outside services. What goes wrong is told without the address, which holds what was asked,
/// and perhaps a key.
pub(super) struct Outside {
    client: Client,
    timeout: Duration,
}

impl Outside {
    /// A client that gives each request so much time.
    pub(super) fn new(timeout: Duration) -> Result<Self, SourceError> {
        // Commands have installed it already; a second time changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            // A redirect would take queries and key to an address nobody configured.
            .redirect(redirect::Policy::none())
            .timeout(timeout)
            .user_agent(concat!("askback/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| SourceError::internal("setting up the client of an outside service", error))?;
        Ok(Self { client, timeout })
    }

    /// The status and the JSON of what is at `url`.
    ///
    /// # Errors
    /// Why there is none, to be read after "the service".
    pub(super) async fn get(&self, url: Url) -> Result<(u16, Value), String> {
        self.send(self.client.get(url)).await
    }

    /// The status and the JSON that come back for `body`.
    ///
    /// # Errors
    /// As `get`.
    pub(super) async fn post(&self, url: Url, body: &Value) -> Result<(u16, Value), String> {
        let request = self.client.post(url).header("content-type", "application/json");
        self.send(request.body(body.to_string())).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<(u16, Value), String> {
        let said = |error: reqwest::Error| match error {
            error if error.is_timeout() => format!("did not answer within {:?}", self.timeout),
            error if error.is_connect() => "cannot be reached".to_owned(),
            _ => "broke off its answer".to_owned(),
        };
        let mut response = request.send().await.map_err(said)?;
        let status = response.status().as_u16();
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(said)? {
            body.extend_from_slice(&chunk);
            if body.len() > LONGEST {
                return Err("sent too long an answer".to_owned());
            }
        }
        match serde_json::from_slice(&body) {
            Ok(answer) => Ok((status, answer)),
            Err(_) if !(200..300).contains(&status) => Err(format!("answered with status {status}")),
            Err(_) => Err("answered with something that is no JSON".to_owned()),
        }
    }
}
