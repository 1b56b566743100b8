//! The state between rounds: what was asked and answered, sealed so that the client can carry it
//! and nobody can change it or use it elsewhere.

use std::time::Duration;

use rmcp::model::{RequestStateCodec, RequestStateError, SealOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Exchange, Form};
use crate::{
    confidence::{gate::Reason, nagging::Put},
    config::StateKey,
};

/// Layout of [`RoundState`]. A replica of another version refuses rather than misreads.
const VERSION: u8 = 2;

/// What a question leaves behind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// What the form asked for.
    pub form: Form,
    /// Which part of the query it was about, if it was one of several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// Why; unknown where the client dropped the state.
    pub reason: Option<Reason>,
    /// Digest of the normalised query it was about.
    pub subject: String,
    /// References offered.
    pub options: Vec<String>,
}

impl Asked {
    /// The question as the rules against nagging look at it.
    pub(super) fn put(&self) -> Put<'_> {
        Put { subject: &self.subject, reason: self.reason, options: &self.options }
    }
}

/// Everything a later round needs to know of the earlier ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundState {
    version: u8,
    /// Answered questions, oldest first.
    pub exchanges: Vec<Exchange>,
    /// The questions this state was handed out with.
    pub pending: Vec<Asked>,
}

impl RoundState {
    /// The state to hand out with questions.
    pub fn new(exchanges: Vec<Exchange>, pending: Vec<Asked>) -> Self {
        Self { version: VERSION, exchanges, pending }
    }
}

/// What a state may be used for: one caller, one tool, the same arguments.
#[derive(Debug, Clone, Copy)]
pub struct Binding<'a> {
    /// The caller's subject.
    pub subject: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// The call's arguments as received.
    pub arguments: &'a serde_json::Value,
}

impl Binding<'_> {
    fn bytes(&self) -> Vec<u8> {
        // `serde_json` keeps object keys sorted, so the same arguments in another order are the
        // same. Length prefixes keep ("ab", "c") and ("a", "bc") apart.
        let arguments = digest(self.arguments.to_string().as_bytes());
        [self.subject, self.tool, &arguments]
            .iter()
            .flat_map(|part| (part.len() as u64).to_be_bytes().into_iter().chain(part.bytes()))
            .collect()
    }
}

/// SHA-256 as hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    crate::text::hex(&Sha256::digest(bytes))
}

/// Why a state could not be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// Forged, altered, of another caller, tool or arguments, or sealed by an unknown key.
    #[error("the request state is not valid for this call; call again without it")]
    Invalid,
    /// Too old.
    #[error("the request state has expired; call again without it")]
    Expired,
}

/// Seals and opens states.
#[derive(Debug)]
pub struct Sealer {
    codec: RequestStateCodec,
    ttl: Duration,
}

/// No key ring could be made. Names the cause, never a key.
#[derive(Debug, thiserror::Error)]
#[error("clarify.state_keys cannot be used: {0}")]
pub struct KeyError(String);

impl Sealer {
    /// A sealer whose first key seals and whose every key opens. Without keys it makes a random
    /// one: states then live and die with this process.
    ///
    /// # Errors
    /// [`KeyError`] if the ring is not usable or the system gives no randomness.
    pub fn new(keys: &[StateKey], ttl: Duration) -> Result<Self, KeyError> {
        let random;
        let keys = if keys.is_empty() {
            let mut secret = vec![0; 32];
            getrandom::fill(&mut secret).map_err(|error| KeyError(error.to_string()))?;
            random = [StateKey { id: "random".to_owned(), secret }];
            &random
        } else {
            keys
        };
        let active = keys.first().map(|key| key.id.clone()).unwrap_or_default();
        let ring = keys.iter().map(|key| (key.id.clone(), key.secret.clone()));
        let codec =
            RequestStateCodec::new_with_keyring(active, ring).map_err(|error| KeyError(error.to_string()))?;
        Ok(Self { codec, ttl })
    }

    /// Seals `state` for `binding`; it opens for the configured time.
    ///
    /// # Errors
    /// If the state cannot be serialised, which no state built here comes to.
    pub fn seal(&self, state: &RoundState, binding: &Binding<'_>) -> Result<String, RequestStateError> {
        let bound = binding.bytes();
        self.codec.seal_json_with(state, &SealOptions::new().associated_data(&bound).ttl(self.ttl))
    }

    /// Opens what a client handed back.
    ///
    /// # Errors
    /// [`StateError`]: deliberately no more than expired or not.
    pub fn open(&self, sealed: &str, binding: &Binding<'_>) -> Result<RoundState, StateError> {
        let state: RoundState =
            self.codec.open_json_with(sealed, &binding.bytes()).map_err(|error| match error {
                RequestStateError::Expired => StateError::Expired,
                _ => StateError::Invalid,
            })?;
        if state.version == VERSION { Ok(state) } else { Err(StateError::Invalid) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialogue::{Answer, Reply};
    use serde_json::json;

    fn key(id: &str, byte: u8) -> StateKey {
        StateKey { id: id.into(), secret: vec![byte; 32] }
    }

    fn sealer(keys: &[StateKey]) -> Sealer {
        Sealer::new(keys, Duration::from_secs(60)).unwrap()
    }

    fn state() -> RoundState {
        let asked = Asked {
            form: Form::Choice,
            slot: None,
            reason: Some(Reason::TooBroad),
            subject: "s".into(),
            options: vec!["a/b#0".into()],
        };
        let answer = Answer::Accepted(Reply { choice: None, text: Some("words".into()) });
        RoundState::new(vec![Exchange { round: 1, asked: asked.clone(), answer }], vec![asked])
    }

    #[test]
    fn opens_for_the_same_call_only() {
        let sealer = sealer(&[key("a", 1)]);
        let arguments = json!({"query": "x", "source": "*"});
        let binding = Binding { subject: "ada", tool: "retrieve", arguments: &arguments };
        let sealed = sealer.seal(&state(), &binding).unwrap();
        assert_eq!(sealer.open(&sealed, &binding), Ok(state()));
        let reordered: serde_json::Value = serde_json::from_str(r#"{"source": "*", "query": "x"}"#).unwrap();
        assert_eq!(sealer.open(&sealed, &Binding { arguments: &reordered, ..binding }), Ok(state()));
        for other in [
            Binding { subject: "bob", ..binding },
            Binding { tool: "refine", ..binding },
            Binding { arguments: &json!({"query": "y", "source": "*"}), ..binding },
        ] {
            assert_eq!(sealer.open(&sealed, &other), Err(StateError::Invalid));
        }
    }

    #[test]
    fn any_changed_character_is_refused() {
        let sealer = sealer(&[key("a", 1)]);
        let binding = Binding { subject: "ada", tool: "retrieve", arguments: &json!({}) };
        let sealed = sealer.seal(&state(), &binding).unwrap();
        for at in 0..sealed.len() {
            let mut bytes = sealed.clone().into_bytes();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let tampered = String::from_utf8(bytes).unwrap();
            assert!(sealer.open(&tampered, &binding).is_err(), "at {at}");
        }
        for garbage in ["", "x", "\u{0}", &"A".repeat(1 << 20)] {
            assert_eq!(sealer.open(garbage, &binding), Err(StateError::Invalid));
        }
    }

    #[test]
    fn keys_rotate_without_losing_what_is_under_way() {
        let binding = Binding { subject: "ada", tool: "retrieve", arguments: &json!({}) };
        let (old, new) = (key("old", 1), key("new", 2));
        let sealed = sealer(std::slice::from_ref(&old)).seal(&state(), &binding).unwrap();
        assert_eq!(sealer(&[new.clone(), old]).open(&sealed, &binding), Ok(state()));
        assert_eq!(sealer(&[new]).open(&sealed, &binding), Err(StateError::Invalid));
    }

    #[test]
    fn two_sealers_without_keys_do_not_open_each_others_states() {
        let binding = Binding { subject: "ada", tool: "retrieve", arguments: &json!({}) };
        let sealed = sealer(&[]).seal(&state(), &binding).unwrap();
        assert_eq!(sealer(&[]).open(&sealed, &binding), Err(StateError::Invalid));
    }

    #[test]
    fn expires() {
        let binding = Binding { subject: "ada", tool: "retrieve", arguments: &json!({}) };
        let sealer = Sealer::new(&[], Duration::ZERO).unwrap();
        let sealed = sealer.seal(&state(), &binding).unwrap();
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(sealer.open(&sealed, &binding), Err(StateError::Expired));
    }
}
