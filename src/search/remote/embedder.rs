//! A remote model at one time: what it was when it was last recognised. Its vectors can be compared;
//! when the model is replaced, it stops answering rather than answer with another's.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use sha2::{Digest, Sha256};

use super::{
    options::EmbeddingOptions,
    recent::Recent,
    retry::Patience,
    sighting::{CANARY, Sighting},
    tokens,
    transport::{Call, Transport},
    trouble::Trouble,
    vectors::{self, Vectors},
};
use crate::search::embedder::{EmbedError, Embedder};

/// What a person waits for a query's vector: it is a part of one answer. One more attempt fits in,
/// if the first failed at once.
const QUERY: Patience =
    Patience { attempt: Duration::from_secs(5), total: Some(Duration::from_secs(5)), retries: 1 };

/// Most bytes that the JSON of one vector takes, and of one answer: services do not decide how much
/// memory we use.
const LONGEST_VECTOR: usize = 512 << 10;
const LONGEST_ANSWER: usize = 64 << 20;

/// Whether a text is looked for, or looked through.
#[derive(Clone, Copy)]
pub(super) enum Role {
    Query,
    Passage,
}

/// The way to the service, whichever model answers there.
pub(super) struct Line {
    transport: Arc<Transport>,
    pub(super) options: EmbeddingOptions,
}

impl Line {
    pub(super) fn new(transport: Arc<Transport>, options: EmbeddingOptions) -> Self {
        Self { transport, options }
    }

    /// What the embedding is called as far as the settings say: the model, and what is done to its
    /// texts. Not the address, since the same model may move.
    pub(super) fn name(&self) -> String {
        let options = &self.options;
        let mut hash = Sha256::new();
        let types = [&options.query_input_type, &options.passage_input_type];
        let types = types.map(|name| name.as_deref().unwrap_or_default());
        for part in [&options.query_prefix, &options.passage_prefix].map(String::as_str).iter().chain(&types)
        {
            hash.update(part);
            hash.update([0]);
        }
        hash.update(options.max_tokens.to_le_bytes());
        let hash: String = crate::text::hex(&hash.finalize()).chars().take(8).collect();
        format!("remote:{}:{hash}", options.endpoint.model)
    }

    /// How the model answers to the canary, and what the service calls it.
    pub(super) fn look(&self) -> Result<(Sighting, Option<String>), Trouble> {
        let attempt = self.options.timeout.min(Duration::from_secs(10));
        let patience = Patience { attempt, total: Some(2 * attempt), retries: 2 };
        let Vectors { mut vectors, model } = self.ask(Role::Passage, &[CANARY], patience, true)?;
        Ok((Sighting { canary: vectors.pop().unwrap_or_default() }, model))
    }

    fn ask(
        &self,
        role: Role,
        texts: &[&str],
        patience: Patience,
        quotable: bool,
    ) -> Result<Vectors, Trouble> {
        let options = &self.options;
        let (prefix, input_type) = match role {
            Role::Query => (&options.query_prefix, &options.query_input_type),
            Role::Passage => (&options.passage_prefix, &options.passage_input_type),
        };
        // Models cut off what is too long, but some services refuse it instead.
        let input: Vec<String> =
            texts.iter().map(|text| format!("{prefix}{}", tokens::head(text, options.max_tokens))).collect();
        let mut body = json!({ "model": options.endpoint.model, "input": input, "encoding_format": "float" });
        if let (Some(input_type), Some(body)) = (input_type, body.as_object_mut()) {
            body.insert("input_type".to_owned(), json!(input_type));
        }
        let longest = texts.len().saturating_mul(LONGEST_VECTOR).min(LONGEST_ANSWER);
        let call = Call { endpoint: &options.endpoint, body: &body, longest, patience, quotable };
        vectors::read(&self.transport.post(&call)?, texts.len())
    }

    /// Notes what went wrong in the log, and says what callers may know of it.
    pub(super) fn give_up(&self, trouble: &Trouble) -> EmbedError {
        let endpoint = &self.options.endpoint;
        tracing::warn!(model = endpoint.model, "{}", trouble.report(endpoint));
        EmbedError::Unavailable(trouble.public(endpoint.section))
    }
}

/// See the module.
pub(super) struct RemoteEmbedder {
    line: Arc<Line>,
    id: String,
    dimensions: usize,
    /// What the service calls the model, once it has said so.
    model: Mutex<Option<String>>,
    /// Whether another model answers now.
    replaced: AtomicBool,
    recent: Recent,
}

impl RemoteEmbedder {
    /// The model of `sighting`, under the name that was given to it then.
    pub(super) fn new(line: Arc<Line>, sighting: &Sighting) -> Self {
        let dimensions = sighting.canary.len();
        let id = format!("{}:{dimensions}:{}", line.name(), sighting.fingerprint());
        let (model, replaced) = (Mutex::new(None), AtomicBool::new(false));
        Self { line, id, dimensions, model, replaced, recent: Recent::default() }
    }

    /// Notes what the service calls the model now that it has been recognised.
    pub(super) fn recognised_as(&self, model: Option<String>) {
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = model;
    }

    /// Whether it is this model that answers from now on, or another.
    pub(super) fn answers(&self, it_does: bool) {
        self.replaced.store(!it_does, Ordering::Release);
    }

    fn embed_as(&self, role: Role, texts: &[&str], patience: Patience) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.line.options.batch.max(1)) {
            let answer =
                self.line.ask(role, batch, patience, false).map_err(|trouble| self.line.give_up(&trouble))?;
            self.check(&answer)?;
            all.extend(answer.vectors);
        }
        Ok(all)
    }

    /// Whether an answer is of this model. If it is not, it is of no use, and which model answers is
    /// found out at the next refresh.
    fn check(&self, answer: &Vectors) -> Result<(), EmbedError> {
        let url = &self.line.options.endpoint.url;
        let replaced = |what: String| {
            tracing::warn!(id = self.id, "embedding service at {url} now answers {what}");
            Err(EmbedError::Unavailable(
                "the model of its embedding service has changed, and its texts have to be embedded again"
                    .to_owned(),
            ))
        };
        if let Some(other) = answer.vectors.iter().find(|vector| vector.len() != self.dimensions) {
            return replaced(format!("with {} numbers a vector instead of {}", other.len(), self.dimensions));
        }
        if self.replaced.load(Ordering::Acquire) {
            return replaced("with another model".to_owned());
        }
        let Some(model) = &answer.model else { return Ok(()) };
        let mut known = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref() {
            Some(known) if known != model => {
                let (known, model) = (known.clone(), crate::text::excerpt(model, 80));
                replaced(format!("as model “{model}” instead of “{known}”"))
            }
            Some(_) => Ok(()),
            None => {
                *known = Some(model.clone());
                Ok(())
            }
        }
    }
}

impl Embedder for RemoteEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_as(Role::Passage, texts, self.indexing())
    }

    fn embed_queries(&self, queries: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed_as(Role::Query, queries, self.indexing())
    }

    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        // A vector from before is of this model, whatever answers now: it fits the index it is for.
        self.recent.get(query, || Ok(self.embed_as(Role::Query, &[query], QUERY)?.pop().unwrap_or_default()))
    }

    fn count_tokens(&self, text: &str) -> usize {
        tokens::estimate(text)
    }

    fn max_tokens(&self) -> usize {
        self.line.options.max_tokens
    }

    fn batch(&self) -> usize {
        self.line.options.batch
    }
}

impl RemoteEmbedder {
    /// Nobody waits for what is done while indexing, and it is much: a service may take its time.
    fn indexing(&self) -> Patience {
        Patience { attempt: self.line.options.timeout, total: None, retries: self.line.options.retries }
    }
}
