//! The issuer's keys, fetched when they are needed and kept for a while. One fetch at a time, and no
//! token can make more than one in ten seconds happen.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwapOption;
use jsonwebtoken::Algorithm;
use reqwest::{Client, Url, header, redirect};
use tokio::{sync::Mutex, time::Instant};

use super::keys::Keys;
use crate::identity::Denied;

/// Longest set read, in bytes. Large issuers publish some 20 KiB.
const MAX_SET: usize = 512 * 1024;

/// How long things are kept, and how often they are tried.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// Keys this old are fetched again before they are used, so that one the issuer withdrew goes.
    pub fresh: Duration,
    /// Keys this old are still used while the issuer cannot be reached: its trouble need not become
    /// everybody's.
    pub stale: Duration,
    /// Between two fetches that failed, and between two that unknown keys gave rise to.
    pub floor: Duration,
    /// For one fetch.
    pub fetch: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            fresh: Duration::from_secs(300),
            stale: Duration::from_secs(24 * 3600),
            floor: Duration::from_secs(10),
            fetch: Duration::from_secs(5),
        }
    }
}

/// The keys of an issuer.
pub(super) struct KeyCache {
    url: Url,
    client: Client,
    accepted: Vec<Algorithm>,
    timing: Timing,
    held: ArcSwapOption<Held>,
    attempts: Mutex<Attempts>,
}

/// Keys and when they were fetched.
pub(super) struct Held {
    pub(super) keys: Keys,
    at: Instant,
}

#[derive(Default)]
struct Attempts {
    failed: Option<Instant>,
    for_unknown: Option<Instant>,
}

impl KeyCache {
    pub(super) fn new(url: Url, accepted: Vec<Algorithm>, timing: Timing) -> Result<Self, String> {
        // Commands have installed it already; a second time changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .timeout(timing.fetch)
            // The keys come from the address that was configured, or not at all.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("askback/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| format!("setting up the client of the token issuer: {error}"))?;
        let (held, attempts) = (ArcSwapOption::empty(), Mutex::default());
        Ok(Self { url, client, accepted, timing, held, attempts })
    }

    /// Keys among which is that of `id`, if the issuer publishes one.
    pub(super) async fn keys(&self, id: Option<&str>) -> Result<Arc<Held>, Denied> {
        let held = match self.held.load_full() {
            Some(held) if held.at.elapsed() < self.timing.fresh => held,
            _ => self.renew().await?,
        };
        if held.keys.find(id).is_some() { Ok(held) } else { Ok(self.look_again(held).await) }
    }

    /// Fetches keys in place of ones that are missing or old.
    async fn renew(&self) -> Result<Arc<Held>, Denied> {
        let mut attempts = self.attempts.lock().await;
        let held = self.held.load_full();
        // Whoever waited for the lock may find the work done.
        if let Some(held) = held.as_ref().filter(|held| held.at.elapsed() < self.timing.fresh) {
            return Ok(Arc::clone(held));
        }
        if !within(attempts.failed, self.timing.floor)
            && let Some(renewed) = self.fetch(&mut attempts).await
        {
            return Ok(renewed);
        }
        held.filter(|held| held.at.elapsed() < self.timing.stale).ok_or(Denied::Unavailable)
    }

    /// Fetches keys because a token names one that is not among `seen`: the issuer may have begun to
    /// use another. The same keys come back where that is not to be had.
    async fn look_again(&self, seen: Arc<Held>) -> Arc<Held> {
        let mut attempts = self.attempts.lock().await;
        if let Some(held) = self.held.load_full().filter(|held| held.at > seen.at) {
            return held;
        }
        if within(attempts.for_unknown, self.timing.floor) || within(attempts.failed, self.timing.floor) {
            return seen;
        }
        attempts.for_unknown = Some(Instant::now());
        self.fetch(&mut attempts).await.unwrap_or(seen)
    }

    async fn fetch(&self, attempts: &mut Attempts) -> Option<Arc<Held>> {
        // Until it has come back: whoever asked may go away in the middle of it.
        attempts.failed = Some(Instant::now());
        match self.read().await {
            Ok(keys) => {
                attempts.failed = None;
                let held = Arc::new(Held { keys, at: Instant::now() });
                self.held.store(Some(Arc::clone(&held)));
                Some(held)
            }
            Err(why) => {
                tracing::warn!(
                    issuer = self.url.host_str(),
                    why,
                    "the token issuer's keys could not be fetched"
                );
                None
            }
        }
    }

    async fn read(&self) -> Result<Keys, String> {
        let brief = |error: reqwest::Error| error.without_url().to_string();
        let request = self.client.get(self.url.clone()).header(header::ACCEPT, "application/json");
        let mut response = request.send().await.map_err(brief)?;
        if !response.status().is_success() {
            return Err(format!("it answered {}", response.status()));
        }
        let mut set = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(brief)? {
            if set.len() + chunk.len() > MAX_SET {
                return Err(format!("it answered with more than {MAX_SET} bytes"));
            }
            set.extend_from_slice(&chunk);
        }
        Keys::read(&set, &self.accepted).map_err(str::to_owned)
    }
}

fn within(at: Option<Instant>, span: Duration) -> bool {
    at.is_some_and(|at| at.elapsed() < span)
}
