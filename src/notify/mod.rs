//! Telling the outside of what happened: messages are put down with what they tell of, and carried to
//! the webhook from there, by whichever process is running, until they have arrived. A receiver may
//! get one twice, and knows it by its id.

mod signature;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use reqwest::{Client, StatusCode, header, redirect};
use time::OffsetDateTime;

use crate::{
    config::Webhook,
    store::{
        StoreError,
        state::{Delivery, StateStore},
    },
};
use signature::signature;

/// How often it is looked whether something is due.
const LOOK: Duration = Duration::from_secs(5);

/// For one attempt.
const PATIENCE: Duration = Duration::from_secs(10);

/// Messages taken at a time, and how long others are kept from them: long enough for each to be tried.
const TAKEN: usize = 5;
const LEASE: Duration = Duration::from_secs(60);

/// Wait after the first attempt; doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(10);

/// Longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Attempts before a message is given up: ten waits up to an hour come to 1.7 hours, and 70 more of an
/// hour each to three days.
const ATTEMPTS: u32 = 80;

/// Carries messages to a webhook.
pub struct Courier {
    state: Arc<dyn StateStore>,
    webhook: Webhook,
    client: Client,
}

/// What became of an attempt.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Arrived,
    /// The receiver wants no more of it.
    Unwanted,
    Failed(String),
}

impl Courier {
    /// Carries what is put down in `state` to `webhook`.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn new(state: Arc<dyn StateStore>, webhook: Webhook) -> Result<Self, String> {
        // Commands have installed it already; a second time changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .timeout(PATIENCE)
            // A redirect would take the message to an address nobody configured.
            .redirect(redirect::Policy::none())
            .user_agent(concat!("askback/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| format!("setting up the client of the webhook: {error}"))?;
        Ok(Self { state, webhook, client })
    }

    /// Carries messages until it is dropped. One it is carrying then is carried again by whoever is next.
    pub async fn run(self) {
        loop {
            match self.carry(OffsetDateTime::now_utc()).await {
                // More may be waiting.
                Ok(TAKEN) => {}
                Ok(_) => tokio::time::sleep(LOOK).await,
                Err(error) => {
                    tracing::warn!(%error, "messages for the webhook cannot be looked up");
                    tokio::time::sleep(LOOK).await;
                }
            }
        }
    }

    /// Takes what is due at `now` and tries it once; how many that were.
    async fn carry(&self, now: OffsetDateTime) -> Result<usize, StoreError> {
        let due = self.store(move |state| state.take_due(TAKEN, now, now + LEASE)).await?;
        let taken = due.len();
        for delivery in due {
            let outcome = self.attempt(&delivery).await;
            self.note(&delivery, outcome, now).await?;
        }
        Ok(taken)
    }

    async fn attempt(&self, delivery: &Delivery) -> Outcome {
        let Webhook { url, secret } = &self.webhook;
        let timestamp = OffsetDateTime::now_utc().unix_timestamp();
        let request = self
            .client
            .post(url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", &delivery.message_id)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature(secret, &delivery.message_id, timestamp, &delivery.body))
            .body(delivery.body.clone());
        match request.send().await {
            Ok(answer) if answer.status().is_success() => Outcome::Arrived,
            Ok(answer) if answer.status() == StatusCode::GONE => Outcome::Unwanted,
            Ok(answer) => Outcome::Failed(format!("it answered {}", answer.status())),
            // The address is a secret, often.
            Err(error) => Outcome::Failed(error.without_url().to_string()),
        }
    }

    async fn note(
        &self,
        delivery: &Delivery,
        outcome: Outcome,
        now: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let (id, attempts) = (delivery.id, delivery.attempts + 1);
        let host = self.webhook.url.host_str();
        match outcome {
            Outcome::Arrived => self.store(move |state| state.delivered(id, now)).await,
            Outcome::Failed(why) if attempts < ATTEMPTS => {
                tracing::warn!(host, attempts, why, "a message did not reach the webhook; trying again");
                let due = now + wait(attempts);
                self.store(move |state| state.postpone(id, &why, Some(due))).await
            }
            Outcome::Failed(why) => {
                tracing::error!(host, attempts, why, "a message did not reach the webhook and is given up");
                self.store(move |state| state.postpone(id, &why, None)).await
            }
            Outcome::Unwanted => {
                tracing::error!(host, "the webhook is gone (410): the message is given up");
                self.store(move |state| state.postpone(id, "410 Gone", None)).await
            }
        }
    }

    /// Uses the store, which blocks, on a thread that may.
    async fn store<R: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn StateStore) -> Result<R, StoreError> + Send + 'static,
    ) -> Result<R, StoreError> {
        let state = Arc::clone(&self.state);
        tokio::task::spawn_blocking(move || work(state.as_ref()))
            .await
            .unwrap_or_else(|error| Err(StoreError(error.to_string())))
    }
}

/// The wait after so many attempts.
fn wait(attempts: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(attempts.saturating_sub(1));
    FIRST_WAIT.saturating_mul(doubled).min(LONGEST_WAIT)
}
