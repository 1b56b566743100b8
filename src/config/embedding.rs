//! `[embedding]`: what computes vectors.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Problem, endpoint::Checks};
use crate::search::remote::EmbeddingOptions;

/// Where vectors are computed.
#[derive(Debug, Clone)]
pub enum EmbeddingChoice {
    /// In the program.
    Bundled,
    /// By a service.
    Remote(Box<EmbeddingOptions>),
}

/// `[embedding]` as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RawEmbedding {
    /// Where vectors are computed.
    pub kind: EmbeddingKind,
    /// Base address of the service, such as `http://localhost:8000/v1`.
    pub url: Option<String>,
    /// The model's name, as the service knows it.
    pub model: Option<String>,
    /// Name of the environment variable that holds the service's key.
    pub api_key_env: Option<String>,
    /// Texts per request.
    pub batch: usize,
    /// Time for one request while indexing.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub timeout: Duration,
    /// Further attempts at a request while indexing.
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

/// Where vectors are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EmbeddingKind {
    /// In the program.
    #[default]
    Bundled,
    /// By a service.
    Remote,
}

impl Default for RawEmbedding {
    fn default() -> Self {
        Self {
            kind: EmbeddingKind::Bundled,
            url: None,
            model: None,
            api_key_env: None,
            // What small services take at once without running out of memory.
            batch: 32,
            timeout: Duration::from_secs(30),
            retries: 3,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            query_input_type: None,
            passage_input_type: None,
            // As the bundled one: passages come out alike, and every model takes as many.
            max_tokens: 256,
        }
    }
}

impl RawEmbedding {
    pub(super) fn validate(self, problems: &mut Vec<Problem>) -> EmbeddingChoice {
        const SECTION: &str = "embedding";
        if self.kind == EmbeddingKind::Bundled {
            for (key, given) in
                [("url", &self.url), ("model", &self.model), ("api_key_env", &self.api_key_env)]
            {
                if given.is_some() {
                    problems.push(Problem::new(
                        format!("{SECTION}.{key}"),
                        "is only used by a remote embedding; set embedding.kind = \"remote\", or leave it out",
                    ));
                }
            }
            return EmbeddingChoice::Bundled;
        }
        let mut check = Checks { section: SECTION, problems };
        check.within("batch", self.batch, 1, 2048);
        check.within("max_tokens", self.max_tokens, 64, 32_768);
        check.within("retries", self.retries as usize, 0, 10);
        check.time("timeout", self.timeout);
        match check.endpoint(self.url, "embeddings", self.model, self.api_key_env) {
            Some(endpoint) => EmbeddingChoice::Remote(Box::new(EmbeddingOptions {
                endpoint,
                batch: self.batch,
                timeout: self.timeout,
                retries: self.retries,
                query_prefix: self.query_prefix,
                passage_prefix: self.passage_prefix,
                query_input_type: self.query_input_type,
                passage_input_type: self.passage_input_type,
                max_tokens: self.max_tokens,
            })),
            // There are problems, so this is never used.
            None => EmbeddingChoice::Bundled,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote() -> RawEmbedding {
        RawEmbedding {
            kind: EmbeddingKind::Remote,
            url: Some("http://localhost:8000/v1/".to_owned()),
            model: Some("m".to_owned()),
            ..RawEmbedding::default()
        }
    }

    fn check(raw: RawEmbedding) -> (EmbeddingChoice, Vec<String>) {
        let mut problems = Vec::new();
        let choice = raw.validate(&mut problems);
        (choice, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_address_is_the_base_and_the_path() {
        for base in
            ["http://localhost:8000/v1", "http://localhost:8000/v1/", "http://localhost:8000/v1/embeddings"]
        {
            let (choice, problems) = check(RawEmbedding { url: Some(base.to_owned()), ..remote() });
            assert!(problems.is_empty(), "{problems:?}");
            let EmbeddingChoice::Remote(options) = choice else { panic!("{choice:?}") };
            assert_eq!(options.endpoint.url.as_str(), "http://localhost:8000/v1/embeddings");
        }
    }

    #[test]
    fn what_is_wrong_names_the_key() {
        let keys = |raw: RawEmbedding| -> Vec<String> {
            check(raw).1.iter().filter_map(|p| p.split(": ").next().map(str::to_owned)).collect()
        };
        assert_eq!(
            keys(RawEmbedding { url: None, model: None, ..remote() }),
            ["embedding.url", "embedding.model"]
        );
        for url in ["localhost:8000", "ftp://x", "http://user:pass@x/v1", "http://x/v1?key=1"] {
            assert_eq!(
                keys(RawEmbedding { url: Some(url.to_owned()), ..remote() }),
                ["embedding.url"],
                "{url}"
            );
        }
        assert_eq!(
            keys(RawEmbedding { batch: 0, max_tokens: 8, retries: 99, timeout: Duration::ZERO, ..remote() }),
            ["embedding.batch", "embedding.max_tokens", "embedding.retries", "embedding.timeout"]
        );
        assert_eq!(
            keys(RawEmbedding { kind: EmbeddingKind::Bundled, ..remote() }),
            ["embedding.url", "embedding.model"]
        );
    }

    #[test]
    fn the_key_is_what_the_variable_holds() {
        // Every process has a PATH.
        let (choice, problems) = check(RawEmbedding { api_key_env: Some("PATH".to_owned()), ..remote() });
        assert!(problems.is_empty(), "{problems:?}");
        let EmbeddingChoice::Remote(options) = choice else { panic!("{choice:?}") };
        assert!(options.endpoint.key.is_some());
        assert!(!format!("{options:?}").contains(&std::env::var("PATH").unwrap()));
    }

    #[test]
    fn a_key_written_in_place_of_its_variable_is_not_repeated() {
        let (_, problems) = check(RawEmbedding { api_key_env: Some("sk-secret".to_owned()), ..remote() });
        assert!(problems.first().is_some_and(|p| p.starts_with("embedding.api_key_env: ")), "{problems:?}");
        assert!(!problems.concat().contains("sk-secret"));
    }
}
