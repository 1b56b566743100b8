//! An OAuth issuer: publishes keys over HTTP, changes them when told to, and signs whatever it is
//! asked to sign. Its private keys are test data and protect nothing.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "shared by several tests, which may panic"
)]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{Router, http::StatusCode, routing::get};
use jsonwebtoken::{Algorithm, EncodingKey, Header, encode, jwk::Jwk};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub const ISSUER: &str = "https://issuer.example.com/";
pub const AUDIENCE: &str = "https://askback.example.com/mcp";

/// A key pair of the issuer.
#[derive(Debug, Clone, Copy)]
pub enum Pair {
    Rsa,
    OtherRsa,
    Ec,
    Ed,
}

impl Pair {
    pub fn algorithm(self) -> Algorithm {
        match self {
            Self::Rsa | Self::OtherRsa => Algorithm::RS256,
            Self::Ec => Algorithm::ES256,
            Self::Ed => Algorithm::EdDSA,
        }
    }

    pub fn private(self) -> EncodingKey {
        match self {
            Self::Rsa => EncodingKey::from_rsa_pem(include_bytes!("keys/rsa.pem")).unwrap(),
            Self::OtherRsa => EncodingKey::from_rsa_pem(include_bytes!("keys/rsa2.pem")).unwrap(),
            Self::Ec => EncodingKey::from_ec_pem(include_bytes!("keys/ec.pem")).unwrap(),
            Self::Ed => EncodingKey::from_ed_pem(include_bytes!("keys/ed.pem")).unwrap(),
        }
    }

    /// As the issuer publishes it under the name `id`.
    pub fn public(self, id: &str) -> Value {
        let mut key = Jwk::from_encoding_key(&self.private(), self.algorithm()).unwrap();
        key.common.key_id = Some(id.to_owned());
        serde_json::to_value(key).unwrap()
    }

    /// A token with `claims`, signed.
    pub fn sign(self, id: Option<&str>, claims: &Value) -> String {
        let mut header = Header::new(self.algorithm());
        header.kid = id.map(str::to_owned);
        encode(&header, claims, &self.private()).unwrap()
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

/// Claims of a token that is good for everything.
pub fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "iat": now(), "nbf": now(), "exp": now() + 300,
        "groups": ["staff"], "scope": "sources.list sources.read sources.write",
    })
}

/// Those with some of them changed; `null` takes one away.
pub fn claims_with(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}

/// The issuer's key server.
pub struct Issuer {
    pub jwks_url: String,
    published: Arc<Mutex<Vec<Value>>>,
    down: Arc<AtomicBool>,
    fetches: Arc<AtomicUsize>,
}

impl Issuer {
    pub async fn publishing(keys: Vec<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let jwks_url = format!("http://{}/keys", listener.local_addr().unwrap());
        let (published, down, fetches) =
            (Arc::new(Mutex::new(keys)), Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (set, off, count) = (Arc::clone(&published), Arc::clone(&down), Arc::clone(&fetches));
        let answer = get(async move || {
            count.fetch_add(1, Ordering::SeqCst);
            if off.load(Ordering::SeqCst) {
                return (StatusCode::SERVICE_UNAVAILABLE, String::new());
            }
            (StatusCode::OK, json!({"keys": *set.lock().unwrap()}).to_string())
        });
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/keys", answer)).await });
        Self { jwks_url, published, down, fetches }
    }

    /// Publishes other keys from now on.
    pub fn rotate(&self, keys: Vec<Value>) {
        *self.published.lock().unwrap() = keys;
    }

    /// Whether it fails from now on.
    pub fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    /// How often keys were fetched.
    pub fn fetches(&self) -> usize {
        self.fetches.load(Ordering::SeqCst)
    }
}
