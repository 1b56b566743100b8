//! `[clarify]`: asking back.

use std::{collections::HashSet, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Problem;
use crate::confidence::gate::{MIN_THRESHOLD, Policy, Profile};

/// `[clarify]` as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RawClarify {
    /// Whether to ask at all.
    pub enabled: bool,
    /// How often one call may ask.
    pub max_rounds: u32,
    /// How long the back-channel of older protocols waits for an answer.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub wait: Duration,
    /// How long a `requestState` stays valid.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub state_ttl: Duration,
    /// Client names (`clientInfo.name`) that are never asked.
    pub skip_clients: Vec<String>,
    /// `id:base64` of 32 bytes or more; the first seals, all open.
    pub state_keys: Vec<String>,
    /// How readily to ask, unless a source says otherwise.
    pub profile: Profile,
}

impl Default for RawClarify {
    fn default() -> Self {
        Self {
            enabled: true,
            max_rounds: 2,
            // Below the 60 s that clients commonly give up at.
            wait: Duration::from_secs(45),
            state_ttl: Duration::from_secs(15 * 60),
            skip_clients: Vec::new(),
            state_keys: Vec::new(),
            profile: Profile::default(),
        }
    }
}

/// A key that seals or opens `requestState`.
#[derive(Clone, PartialEq, Eq)]
pub struct StateKey {
    /// Names the key in what it sealed.
    pub id: String,
    /// The key.
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for StateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "StateKey({}, secret)", self.id)
    }
}

/// `[clarify]`, validated.
#[derive(Debug, Clone)]
pub struct Clarify {
    /// See [`RawClarify::enabled`].
    pub enabled: bool,
    /// See [`RawClarify::max_rounds`].
    pub max_rounds: u32,
    /// See [`RawClarify::wait`].
    pub wait: Duration,
    /// See [`RawClarify::state_ttl`].
    pub state_ttl: Duration,
    /// Lower-cased client names.
    pub skip_clients: HashSet<String>,
    /// Empty: a random key is made at start.
    pub state_keys: Vec<StateKey>,
    /// See [`RawClarify::profile`].
    pub profile: Profile,
}

/// `[sources.clarify]`: one source's own rules.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SourceClarify {
    /// Whether this source may ask.
    pub enabled: Option<bool>,
    /// How readily it asks.
    pub profile: Option<Profile>,
    /// In place of the profile's threshold on the chance that what is wanted was missed.
    pub t_miss: Option<f32>,
    /// In place of the calibrated threshold on the chance that the query is foreign.
    pub t_ooc: Option<f32>,
}

impl SourceClarify {
    /// When the source's gate asks, given the service's profile.
    pub fn policy(&self, default: Profile) -> Policy {
        Policy { profile: self.profile.unwrap_or(default), t_miss: self.t_miss, t_ooc: self.t_ooc }
    }

    /// The keys that will not do, and why.
    pub(super) fn problems(&self) -> impl Iterator<Item = (&'static str, String)> {
        [("clarify.t_miss", self.t_miss), ("clarify.t_ooc", self.t_ooc)]
            .into_iter()
            .filter(|(_, value)| value.is_some_and(|value| !(MIN_THRESHOLD..=1.0).contains(&value)))
            .map(|(key, _)| {
                let why = format!(
                    "must be from {MIN_THRESHOLD} (asks soonest) to 1 (never); leave it out for the profile's or calibrated value"
                );
                (key, why)
            })
    }
}

/// Shortest secret accepted, in bytes: HMAC-SHA-256 gains nothing from less and loses strength.
const MIN_SECRET: usize = 32;

impl RawClarify {
    pub(super) fn validate(self, problems: &mut Vec<Problem>) -> Clarify {
        if !(1..=10).contains(&self.max_rounds) {
            problems.push(Problem::new(
                "clarify.max_rounds",
                "must be from 1 to 10; to never ask, set clarify.enabled = false",
            ));
        }
        for (key, value) in [("clarify.wait", self.wait), ("clarify.state_ttl", self.state_ttl)] {
            if value.is_zero() {
                problems.push(Problem::new(key, "must be longer than 0s"));
            }
        }
        let mut ids = HashSet::new();
        let mut state_keys = Vec::new();
        for text in &self.state_keys {
            match state_key(text) {
                Ok(key) if ids.insert(key.id.clone()) => state_keys.push(key),
                Ok(key) => problems
                    .push(Problem::new("clarify.state_keys", format!("the id `{}` is used twice", key.id))),
                Err(message) => problems.push(Problem::new("clarify.state_keys", message)),
            }
        }
        Clarify {
            enabled: self.enabled,
            max_rounds: self.max_rounds,
            wait: self.wait,
            state_ttl: self.state_ttl,
            skip_clients: self.skip_clients.iter().map(|name| name.to_lowercase()).collect(),
            state_keys,
            profile: self.profile,
        }
    }
}

/// Reads `id:base64`. Messages never repeat the text: it is a secret.
fn state_key(text: &str) -> Result<StateKey, String> {
    const FORM: &str = "each entry has the form id:base64, for example made by `openssl rand -base64 32`";
    let (id, secret) = text.split_once(':').ok_or_else(|| FORM.to_owned())?;
    let id = id.trim();
    if id.is_empty() || id.len() > 64 {
        return Err(format!("{FORM}; the id has 1 to 64 characters"));
    }
    let secret =
        BASE64_STANDARD.decode(secret.trim()).map_err(|_| format!("the key `{id}` is not base64"))?;
    if secret.len() < MIN_SECRET {
        return Err(format!("the key `{id}` has {} bytes; at least {MIN_SECRET} are needed", secret.len()));
    }
    Ok(StateKey { id: id.to_owned(), secret })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_key() {
        let text = format!("k1:{}", BASE64_STANDARD.encode([7; 32]));
        assert_eq!(state_key(&text), Ok(StateKey { id: "k1".into(), secret: vec![7; 32] }));
    }

    #[test]
    fn refuses_bad_keys_without_repeating_them() {
        let short = format!("k1:{}", BASE64_STANDARD.encode([7; 31]));
        for bad in ["", "no-colon", ":AAAA", "k1:???", short.as_str()] {
            let message = state_key(bad).unwrap_err();
            let secret = bad.rsplit(':').next().unwrap_or_default();
            assert!(secret.len() < 4 || !message.contains(secret), "{message}");
        }
    }
}
