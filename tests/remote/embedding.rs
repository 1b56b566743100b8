//! What is asked of an embedding service, and what of its answers is believed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use askback::search::{
    embedder::{EmbedError, Embedder, Embedding},
    remote::EmbeddingOptions,
};
use rstest::rstest;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    stub::{Does, Stub},
    support::{KEY, embedding, logged, options},
};

/// A service that has been looked at, and the embedder it made.
fn ready() -> (Stub, Arc<dyn Embedder>, TempDir) {
    let (stub, data) = (Stub::start(), tempfile::tempdir().unwrap());
    let embedder = embedding(options(&stub), data.path()).current().unwrap();
    stub.taken();
    (stub, embedder, data)
}

fn unavailable<T: std::fmt::Debug>(result: Result<T, EmbedError>) -> String {
    match result {
        Err(EmbedError::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn texts_go_in_batches_under_their_prefixes_and_come_back_as_unit_vectors() {
    let (stub, embedder, _data) = ready();
    assert_eq!(embedder.dimensions(), 64);
    let texts: Vec<String> = (0..70).map(|n| format!("text {n} text")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts).unwrap();
    assert_eq!(vectors.len(), 70);
    for vector in &vectors {
        assert!((vector.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    let requests = stub.taken();
    assert_eq!(requests.iter().map(|r| r.input().len()).collect::<Vec<_>>(), [32, 32, 6]);
    assert_eq!(requests[1].input()[0], "passage: text 32 text");
    assert_eq!(requests[0].body["model"], "words");
    assert_eq!(requests[0].authorization, Some(format!("Bearer {KEY}")));

    embedder.embed_query("a question").unwrap();
    embedder.embed_queries(&["another"]).unwrap();
    let asked: Vec<_> = stub.taken().iter().flat_map(|r| r.input()).collect();
    assert_eq!(asked, ["query: a question", "query: another"]);
}

#[test]
fn input_types_are_sent_where_they_are_set_and_long_texts_are_cut() {
    let (stub, data) = (Stub::start(), tempfile::tempdir().unwrap());
    let typed = embedding(
        EmbeddingOptions {
            query_input_type: Some("query".to_owned()),
            passage_input_type: Some("passage".to_owned()),
            ..options(&stub)
        },
        data.path(),
    );
    let embedder = typed.current().unwrap();
    stub.taken();
    embedder.embed_query(&"word ".repeat(5000)).unwrap();
    embedder.embed(&["b"]).unwrap();
    let requests = stub.taken();
    assert_eq!(requests[0].body["input_type"], "query");
    assert_eq!(requests[1].body["input_type"], "passage");
    assert_eq!(requests[0].input()[0].split_whitespace().count(), 1 + 256);
}

#[test]
fn the_same_query_is_asked_for_once() {
    let (stub, embedder, _data) = ready();
    let first = embedder.embed_query("again").unwrap();
    assert_eq!(embedder.embed_query("again").unwrap(), first);
    assert_eq!(stub.taken().len(), 1);
}

#[test]
fn shuffled_answers_are_put_in_order() {
    let (stub, embedder, _data) = ready();
    let sound = embedder.embed(&["one", "two", "three"]).unwrap();
    stub.script([Does::But(|answer| answer["data"].as_array_mut().unwrap().reverse())]);
    assert_eq!(embedder.embed(&["one", "two", "three"]).unwrap(), sound);
}

#[test]
fn failures_that_pass_are_waited_out() {
    let (stub, embedder, _data) = ready();
    stub.script([Does::Status(500, None), Does::Status(503, None)]);
    embedder.embed(&["a"]).unwrap();
    assert_eq!(stub.taken().len(), 3);

    stub.script([Does::Status(429, Some(2))]);
    let started = Instant::now();
    embedder.embed(&["a"]).unwrap();
    assert!(started.elapsed() >= Duration::from_secs(2));
    assert_eq!(stub.taken().len(), 2);
}

#[test]
fn patience_ends() {
    let (stub, embedder, _data) = ready();
    stub.script(vec![Does::Status(500, None); 10]);
    assert_eq!(unavailable(embedder.embed(&["a"])), "its embedding service is overloaded or failing");
    assert_eq!(stub.taken().len(), 4);
    // Somebody waits for a query: one more attempt, and none that would come too late.
    unavailable(embedder.embed_query("a"));
    assert_eq!(stub.taken().len(), 2);
    stub.behave();
    stub.script([Does::Status(429, Some(30))]);
    let started = Instant::now();
    unavailable(embedder.embed_query("a"));
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_eq!(stub.taken().len(), 1);
}

#[test]
fn a_service_that_hangs_costs_a_query_five_seconds() {
    let (stub, embedder, _data) = ready();
    stub.script(vec![Does::Late(Duration::from_secs(20)); 5]);
    let started = Instant::now();
    assert_eq!(unavailable(embedder.embed_query("a")), "its embedding service did not answer in time");
    let waited = started.elapsed();
    assert!((Duration::from_secs(4)..Duration::from_secs(7)).contains(&waited), "{waited:?}");
}

#[test]
fn refusals_are_final_and_leak_nothing() {
    let (stub, embedder, _data) = ready();
    stub.script([Does::Refuse(400, json!({"error": {"message": "cannot embed “the secret question”"}}))]);
    let (result, log) = logged(|| embedder.embed_query("the secret question"));
    let why = unavailable(result);
    assert_eq!(stub.taken().len(), 1);
    assert!(!why.contains("127.0.0.1") && why.contains("operator"), "{why}");
    assert!(log.contains("status 400") && log.contains(&stub.base), "{log}");
    assert!(!log.contains("secret"), "{log}");

    // What is said of our own text may be logged, but for the key.
    let data = tempfile::tempdir().unwrap();
    let said = json!({"error": {"message": format!("Incorrect API key provided: {KEY}")}});
    stub.script([Does::Refuse(401, said)]);
    let (result, log) = logged(|| embedding(options(&stub), data.path()).current().map(|_| ()));
    unavailable(result);
    assert!(log.contains("Incorrect API key") && log.contains("embedding.api_key_env"), "{log}");
    assert!(!log.contains(KEY), "{log}");
}

#[rstest]
#[case::truncated(Does::Bytes(r#"{"data": [{"index": 0, "embedding": [0.1, 0"#.to_owned()))]
#[case::html(Does::Bytes("<html>hello</html>".to_owned()))]
#[case::nan(Does::Bytes(r#"{"data": [{"index": 0, "embedding": [NaN, 1]}]}"#.to_owned()))]
#[case::huge(Does::Bytes(format!(r#"{{"data": [], "padding": "{}"}}"#, "x".repeat(1 << 20))))]
#[case::count(Does::But(|answer| answer["data"] = Value::Array(Vec::new())))]
#[case::strings(Does::But(|answer| answer["data"][0]["embedding"][0] = json!("1")))]
#[case::null(Does::But(|answer| answer["data"][0]["embedding"][0] = Value::Null))]
#[case::zeros(Does::But(|answer| answer["data"][0]["embedding"] = json!(vec![0; 64])))]
#[case::redirect(Does::Status(308, None))]
fn unsound_answers_are_refused_and_not_asked_for_again(#[case] does: Does) {
    let (stub, embedder, _data) = ready();
    stub.script([does]);
    let (result, log) = logged(|| embedder.embed(&["a"]));
    assert!(unavailable(result).contains("operator"));
    assert_eq!(stub.taken().len(), 1);
    assert!(log.contains("embedding service at"), "{log}");
    // One bad answer is no reason to give up on the service.
    embedder.embed(&["a"]).unwrap();
}

#[test]
fn vectors_of_another_length_or_model_never_mix() {
    let (stub, embedder, _data) = ready();
    stub.change(|model| model.dimensions = 32);
    assert!(unavailable(embedder.embed(&["a"])).contains("has changed"));
    stub.change(|model| model.dimensions = 64);
    embedder.embed(&["a"]).unwrap();
    stub.change(|model| model.name = "words-2".to_owned());
    assert!(unavailable(embedder.embed_query("a")).contains("has changed"));
}

#[test]
fn a_model_is_recognised_by_what_it_answers() {
    let (stub, data) = (Stub::start(), tempfile::tempdir().unwrap());
    let remote = embedding(options(&stub), data.path());
    assert!(remote.known().is_none());
    assert!(stub.taken().is_empty());
    let first = remote.current().unwrap();
    assert!(first.id().starts_with("remote:words:") && first.id().contains(":64:"), "{}", first.id());

    // Another name for the same is the same; whoever kept the embedder goes on using it.
    stub.change(|model| model.name = "renamed".to_owned());
    assert_eq!(remote.current().unwrap().id(), first.id());
    first.embed(&["a"]).unwrap();

    // The same name for another is another.
    stub.change(|model| model.seed = 8);
    let second = remote.current().unwrap();
    assert_ne!(second.id(), first.id());
    assert!(unavailable(first.embed_query("a")).contains("has changed"));
    second.embed_query("a").unwrap();

    // Known without asking, in this process and the next.
    let next = embedding(options(&stub), data.path());
    stub.taken();
    assert_eq!(remote.known().unwrap().id(), second.id());
    assert_eq!(next.known().unwrap().id(), second.id());
    assert!(stub.taken().is_empty());

    // One that comes back is recognised, too, and whoever kept its embedder can go on.
    stub.change(|model| model.seed = 7);
    assert_eq!(remote.current().unwrap().id(), first.id());
    first.embed_query("b").unwrap();
    assert!(unavailable(second.embed_query("b")).contains("has changed"));
    assert_eq!(next.current().unwrap().id(), first.id());
}

#[test]
fn a_service_that_contradicts_itself_is_not_followed() {
    let (stub, data) = (Stub::start(), tempfile::tempdir().unwrap());
    stub.change(|model| model.moody = true);
    let remote = embedding(options(&stub), data.path());
    let (result, log) = logged(|| remote.current().map(|_| ()));
    assert!(unavailable(result).contains("contradicts itself"));
    assert!(log.contains("take turns"), "{log}");
    assert!(remote.known().is_none());
}

#[test]
fn other_prefixes_are_another_embedding_and_another_address_is_not() {
    let (stub, moved, data) = (Stub::start(), Stub::start(), tempfile::tempdir().unwrap());
    let id = |options| embedding(options, data.path()).current().unwrap().id().to_owned();
    let first = id(options(&stub));
    assert_eq!(id(options(&moved)), first);
    for changed in [
        EmbeddingOptions { query_prefix: "q: ".to_owned(), ..options(&stub) },
        EmbeddingOptions { max_tokens: 512, ..options(&stub) },
    ] {
        assert_ne!(id(changed), first);
    }
}
