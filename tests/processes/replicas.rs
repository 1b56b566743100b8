//! Two servers over one data folder, as replicas on one machine are.

use serde_json::{Value, json};

use crate::deployment::{Deployment, call};

async fn retrieve(url: &str, query: &str) -> Value {
    let query = json!({"query": query, "source": "notes", "clarify": "never"});
    let result = call(&reqwest::Client::new(), url, "retrieve", &query).await.unwrap();
    result["structuredContent"]["hits"].clone()
}

#[tokio::test]
async fn what_one_took_the_other_has() {
    let deployment = Deployment::new("[sources.policy.write]\nallowed = true");
    let (one, other) = (deployment.url(), deployment.another_url());
    // Both find an empty folder: one builds the index, the other finds it built.
    let (_first, _second) = tokio::join!(deployment.serve_at(&one), deployment.serve_at(&other));
    let http = reqwest::Client::new();
    let begun = std::time::Instant::now();
    for url in [&one, &other] {
        while retrieve(url, "printer paper").await.as_array().is_none_or(Vec::is_empty) {
            assert!(begun.elapsed().as_secs() < 30, "{url} has no index");
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    }
    for n in 0..6 {
        let (writer, reader) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        let write = json!({"source": "notes", "mode": "upsert", "key": "menu", "content": format!("Today: dish{n}."),
            "provenance": {"origin": "the kitchen"}, "idempotency_key": format!("k{n}")});
        let receipt = call(&http, writer, "write", &write).await.unwrap()["structuredContent"].clone();
        assert_eq!(receipt["revision"], n + 1);
        // The same write at the other server is the same write.
        let again = call(&http, reader, "write", &write).await.unwrap()["structuredContent"].clone();
        assert_eq!((&again["replayed"], &again["revision"]), (&json!(true), &receipt["revision"]));
        let hits = retrieve(reader, &format!("dish{n}")).await;
        assert_eq!(hits[0]["reference"], "notes/~key/menu#0");
        assert!(hits[0]["text"].as_str().unwrap().contains(&format!("dish{n}")));
    }
}
