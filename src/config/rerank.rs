//! `[rerank]`: what takes a second look at results.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Problem, endpoint::Checks};
use crate::search::remote::RerankOptions;

/// `[rerank]` as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RawRerank {
    /// Base address of the service, such as `http://localhost:8001/v1`.
    pub url: Option<String>,
    /// The model's name, as the service knows it.
    pub model: Option<String>,
    /// Name of the environment variable that holds the service's key.
    pub api_key_env: Option<String>,
    /// Time for one request.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// Passages sent.
    pub top: usize,
    /// What its opinion weighs against the search's own, from 0 to 1.
    pub weight: f32,
    /// The key of the request that holds the passages.
    pub documents_key: String,
}

impl Default for RawRerank {
    fn default() -> Self {
        Self {
            url: None,
            model: None,
            api_key_env: None,
            // An answer without it is better than one much later.
            timeout: Duration::from_secs(2),
            top: 30,
            weight: 0.5,
            documents_key: "documents".to_owned(),
        }
    }
}

impl RawRerank {
    pub(super) fn validate(self, problems: &mut Vec<Problem>) -> Option<RerankOptions> {
        let mut check = Checks { section: "rerank", problems };
        check.within("top", self.top, 2, 100);
        check.time("timeout", self.timeout);
        if !(0.0..=1.0).contains(&self.weight) {
            check.problem("weight", "must be from 0 (no influence) to 1");
        }
        if ["", "model", "query", "top_n"].contains(&self.documents_key.as_str()) {
            check.problem("documents_key", "must be `documents`, or `texts` for text-embeddings-inference");
        }
        let endpoint = check.endpoint(self.url, "rerank", self.model, self.api_key_env)?;
        Some(RerankOptions {
            endpoint,
            timeout: self.timeout,
            top: self.top,
            weight: self.weight,
            documents_key: self.documents_key,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reranker_needs_an_address_and_a_model() {
        let mut problems = Vec::new();
        let raw =
            RawRerank { weight: 1.5, top: 1, documents_key: "query".to_owned(), ..RawRerank::default() };
        assert!(raw.validate(&mut problems).is_none());
        let keys: Vec<&str> = problems.iter().map(|problem| problem.key.as_str()).collect();
        assert_eq!(
            keys,
            ["rerank.top", "rerank.weight", "rerank.documents_key", "rerank.url", "rerank.model"]
        );
    }
}
