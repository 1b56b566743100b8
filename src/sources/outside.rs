//! Asking an outside service for JSON, within limits of time and size.

use std::{env, time::Duration};

use reqwest::{Client, RequestBuilder, Url, redirect};
use serde_json::Value;

use super::{SourceError, registry::SettingsError};
use crate::search::remote::Secret;

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

/// Checks the keys that kinds over an outside service have in common, `url`, `timeout` and `api_key_env`;
/// the base address and the service's key.
///
/// # Errors
/// The first that will not do.
pub(super) fn checked(
    url: &str,
    timeout: Duration,
    api_key_env: Option<&str>,
) -> Result<(Url, Option<Secret>), SettingsError> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or_else(|| {
        SettingsError::new("url", "must be an address that begins with http:// or https://")
    })?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err(SettingsError::new("url", "must be the base address, without `?` and `#`"));
    }
    if !(Duration::from_millis(10)..=Duration::from_secs(60)).contains(&timeout) {
        return Err(SettingsError::new("timeout", "must be from 10ms to 1m"));
    }
    let key = match api_key_env.map(env::var) {
        None => None,
        Some(Ok(key)) if !key.trim().is_empty() => Some(Secret::new(key.trim().to_owned())),
        Some(_) => return Err(SettingsError::new("api_key_env", "names a variable that is not set")),
    };
    Ok((url, key))
}
