//! A reranker behind HTTP. Answers do not depend on it: when it fails or is late, they come in the
//! order they had.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use super::{
    options::RerankOptions,
    ranking,
    retry::Patience,
    transport::{Call, Transport},
};
use crate::search::rerank::Reranker;

/// Failures in a row after which it is left alone for a while: every one of them costs a caller
/// the whole timeout.
const TOLERATED: u32 = 3;

/// How long it is left alone.
const REST: Duration = Duration::from_secs(30);

/// Bytes one score takes with what services put around it: some send the text back.
const LONGEST_SCORE: usize = 64 << 10;

/// See the module.
pub struct RemoteReranker {
    transport: Arc<Transport>,
    options: RerankOptions,
    circuit: Circuit,
}

impl RemoteReranker {
    /// A reranker that is asked through `transport`.
    pub fn new(transport: Arc<Transport>, options: RerankOptions) -> Self {
        Self { transport, options, circuit: Circuit::default() }
    }
}

impl Reranker for RemoteReranker {
    fn top(&self) -> usize {
        self.options.top
    }

    fn weight(&self) -> f32 {
        self.options.weight
    }

    fn score(&self, query: &str, texts: &[&str]) -> Option<Vec<f32>> {
        if self.circuit.is_open(Instant::now()) {
            return None;
        }
        let RerankOptions { endpoint, timeout, documents_key, .. } = &self.options;
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(endpoint.model));
        body.insert("query".to_owned(), json!(query));
        body.insert(documents_key.clone(), json!(texts));
        body.insert("top_n".to_owned(), json!(texts.len()));
        let call = Call {
            endpoint,
            body: &Value::Object(body),
            longest: (texts.len() + 1).saturating_mul(LONGEST_SCORE),
            patience: Patience { attempt: *timeout, total: Some(*timeout), retries: 0 },
            quotable: false,
        };
        match self.transport.post(&call).and_then(|body| ranking::read(&body, texts.len())) {
            Ok(scores) => {
                self.circuit.worked();
                Some(scores)
            }
            Err(trouble) => {
                let rests = self.circuit.failed(Instant::now());
                let next = if rests { format!("; it is not asked for {REST:?}") } else { String::new() };
                tracing::warn!(model = endpoint.model, "not reranked: {}{next}", trouble.report(endpoint));
                None
            }
        }
    }
}

/// Leaves alone for [`REST`] what failed [`TOLERATED`] times in a row; after that one failure more
/// is enough.
#[derive(Default)]
struct Circuit(Mutex<State>);

#[derive(Default)]
struct State {
    failures: u32,
    closed_from: Option<Instant>,
}

impl Circuit {
    fn is_open(&self, now: Instant) -> bool {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed_from.is_some_and(|from| now < from)
    }

    fn worked(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::default();
    }

    /// Whether it is left alone from now on.
    fn failed(&self, now: Instant) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.failures = state.failures.saturating_add(1);
        let open = state.failures >= TOLERATED;
        if open {
            state.closed_from = now.checked_add(REST);
        }
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_in_a_row_open_the_circuit_for_a_while() {
        let (circuit, now) = (Circuit::default(), Instant::now());
        assert!(!circuit.failed(now) && !circuit.failed(now));
        circuit.worked();
        assert!(!circuit.failed(now) && !circuit.failed(now) && !circuit.is_open(now));
        assert!(circuit.failed(now) && circuit.is_open(now));
        let later = now + REST;
        assert!(!circuit.is_open(later));
        // One more failure is enough then, and one success forgives all.
        assert!(circuit.failed(later) && circuit.is_open(later));
        circuit.worked();
        assert!(!circuit.is_open(later) && !circuit.failed(later));
    }
}
