//! A service of embeddings and rerankings that does what a script says.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// What the service does with one request.
#[derive(Clone)]
pub(crate) enum Does {
    /// Says no, maybe asking to come back after so many seconds.
    Status(u16, Option<u64>),
    /// Says no in these words.
    Refuse(u16, Value),
    /// Answers soundly, but late.
    Late(Duration),
    /// Answers with these bytes.
    Bytes(String),
    /// Answers soundly but for one thing.
    But(fn(&mut Value)),
}

/// How the model is made: another seed is another model.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) seed: usize,
    pub(crate) dimensions: usize,
    pub(crate) name: String,
    /// Makes every answer another.
    pub(crate) moody: bool,
}

#[derive(Default)]
struct Log {
    script: VecDeque<Does>,
    requests: Vec<Request>,
}

#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) body: Value,
    pub(crate) authorization: Option<String>,
}

impl Request {
    /// The texts of a request for vectors.
    pub(crate) fn input(&self) -> Vec<String> {
        self.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    }
}

/// A running stub. It ends with the tests.
#[derive(Clone)]
pub(crate) struct Stub {
    pub(crate) base: String,
    pub(crate) model: Arc<Mutex<Model>>,
    log: Arc<Mutex<Log>>,
}

impl Stub {
    /// Starts one on a thread of its own: callers block theirs.
    pub(crate) fn start() -> Self {
        let model = Model { seed: 7, dimensions: 64, name: "words-1".to_owned(), moody: false };
        let stub = Self { base: String::new(), model: Arc::new(Mutex::new(model)), log: Arc::default() };
        let served = stub.clone();
        let (bound, port) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                bound.send(listener.local_addr().unwrap().port()).unwrap();
                axum::serve(listener, Router::new().fallback(answer).with_state(served)).await.unwrap();
            });
        });
        Self { base: format!("http://127.0.0.1:{}/v1", port.recv().unwrap()), ..stub }
    }

    /// What to do with the next requests; after them it answers soundly.
    pub(crate) fn script(&self, script: impl IntoIterator<Item = Does>) {
        self.log.lock().unwrap().script.extend(script);
    }

    /// Forgets what is left of the script.
    pub(crate) fn behave(&self) {
        self.log.lock().unwrap().script.clear();
    }

    /// The requests since this was last asked.
    pub(crate) fn taken(&self) -> Vec<Request> {
        std::mem::take(&mut self.log.lock().unwrap().requests)
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Model)) {
        change(&mut self.model.lock().unwrap());
    }
}

async fn answer(State(stub): State<Stub>, uri: Uri, headers: HeaderMap, body: String) -> Response {
    let body: Value = serde_json::from_str(&body).unwrap();
    let does = {
        let mut log = stub.log.lock().unwrap();
        let authorization =
            headers.get(header::AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
        log.requests.push(Request { body: body.clone(), authorization });
        log.script.pop_front()
    };
    let mut sound = match uri.path() {
        "/v1/embeddings" => embeddings(&stub.model, &body),
        "/v1/rerank" => rerank(&body),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    match does {
        None => {}
        Some(Does::Late(by)) => tokio::time::sleep(by).await,
        Some(Does::But(twist)) => twist(&mut sound),
        Some(Does::Bytes(bytes)) => return bytes.into_response(),
        Some(Does::Refuse(status, body)) => {
            return (StatusCode::from_u16(status).unwrap(), body.to_string()).into_response();
        }
        Some(Does::Status(status, wait)) => {
            let status = StatusCode::from_u16(status).unwrap();
            let wait = wait.map(|seconds| [(header::RETRY_AFTER, seconds.to_string())]);
            return wait.map_or(status.into_response(), |wait| (status, wait).into_response());
        }
    }
    sound.to_string().into_response()
}

/// Words counted into buckets, like a model that knows no synonyms. Not of unit length.
fn embeddings(model: &Mutex<Model>, body: &Value) -> Value {
    let mut model = model.lock().unwrap();
    let texts = body["input"].as_array().unwrap();
    let data: Vec<Value> = texts
        .iter()
        .enumerate()
        .map(|(index, text)| {
            if model.moody {
                model.seed += 1;
            }
            let mut vector = vec![0u32; model.dimensions];
            for word in text.as_str().unwrap().to_lowercase().split(|c: char| !c.is_alphanumeric()) {
                if !word.is_empty() {
                    let hash = word.bytes().fold(model.seed, |hash, byte| {
                        hash.wrapping_mul(31).wrapping_add(usize::from(byte)) ^ (hash >> 7)
                    });
                    vector[hash % model.dimensions] += 1;
                }
            }
            json!({"object": "embedding", "index": index, "embedding": vector})
        })
        .collect();
    json!({"object": "list", "model": model.name, "data": data, "usage": {"total_tokens": 1}})
}

/// Likes texts that mention gold, and the shorter the better.
fn rerank(body: &Value) -> Value {
    let texts = body["documents"].as_array().unwrap();
    let mut results: Vec<(usize, f64)> = texts
        .iter()
        .map(|text| text.as_str().unwrap())
        .enumerate()
        .map(|(index, text)| {
            (index, f64::from(u8::from(text.contains("gold"))) * 5.0 - text.len() as f64 / 1e3)
        })
        .collect();
    results.sort_by(|a, b| b.1.total_cmp(&a.1));
    let results: Vec<Value> =
        results.iter().map(|(index, score)| json!({"index": index, "relevance_score": score})).collect();
    json!({"model": "r", "results": results})
}
