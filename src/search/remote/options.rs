//! What a remote model is used with, as validated values.

use std::{fmt, time::Duration};

/// A key that is sent to a service and shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps `key`.
    pub fn new(key: String) -> Self {
        Self(key)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// One model at one address.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The section of the settings that names it, for messages.
    pub section: &'static str,
    /// The full address, such as `http://host:port/v1/embeddings`.
    pub url: reqwest::Url,
    /// The model's name, as the service knows it.
    pub model: String,
    /// Sent as a bearer token.
    pub key: Option<Secret>,
}

/// `[embedding]` of a remote embedding.
#[derive(Debug, Clone)]
pub struct EmbeddingOptions {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Texts per request.
    pub batch: usize,
    /// Time for one request while indexing.
    pub timeout: Duration,
    /// Further attempts while indexing.
    pub retries: u32,
    /// Put before queries.
    pub query_prefix: String,
    /// Put before passages.
    pub passage_prefix: String,
    /// Sent as `input_type` with queries.
    pub query_input_type: Option<String>,
    /// Sent as `input_type` with passages.
    pub passage_input_type: Option<String>,
    /// Tokens the model is given of a text.
    pub max_tokens: usize,
}

/// `[rerank]`.
#[derive(Debug, Clone)]
pub struct RerankOptions {
    /// Where it is.
    pub endpoint: Endpoint,
    /// Time for one request: somebody is waiting.
    pub timeout: Duration,
    /// Passages sent.
    pub top: usize,
    /// What its opinion weighs, in [0, 1].
    pub weight: f32,
    /// The key the texts are sent under.
    pub documents_key: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let endpoint = Endpoint {
            section: "embedding",
            url: "http://localhost:1/v1/embeddings".parse().unwrap(),
            model: "m".to_owned(),
            key: Some(Secret::new("sk-very-secret".to_owned())),
        };
        assert!(!format!("{endpoint:?} {endpoint:#?}").contains("sk-"));
    }
}
