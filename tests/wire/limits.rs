//! Limits over the wire: each says which it is and when to come back.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{CLEAR, Does, Era, FOREIGN, Raw, User, call, content, serve, settings};

async fn failure(url: &str, tool: &str, arguments: Value) -> Value {
    let (status, body) = Raw::call(url, tool, arguments).send().await;
    assert_eq!(status, 200, "{body:#}");
    assert_eq!(body["result"]["isError"], true, "{body:#}");
    serde_json::from_str(body["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_tool_called_too_often_says_when_to_come_back() {
    let mut settings = settings().await;
    settings.limits.writes_per_minute = 1;
    let server = serve(settings).await;
    let write = json!({"source": "wiki", "mode": "append", "content": "x", "provenance": {"origin": "test"}});
    // Counted before it is looked at: whoever guesses is slowed down, too.
    assert_eq!(failure(&server.url, "write", write.clone()).await["code"], "write_not_allowed");
    let failed = failure(&server.url, "write", write).await;
    assert_eq!(failed["code"], "rate_limited");
    assert_eq!(failed["details"]["limit"], "limits.writes_per_minute");
    let seconds = failed["details"]["retry_after_seconds"].as_u64().unwrap();
    assert!((55..=60).contains(&seconds), "one a minute: {seconds}");
    // Reading has a count of its own.
    let user = User::unreachable();
    content(
        call(&server.url, Era::Modern, &user, "retrieve", json!({"query": CLEAR, "source": "wiki"})).await,
    );
}

#[tokio::test]
async fn too_many_requests_are_turned_away_unread() {
    let mut settings = settings().await;
    settings.limits.requests_per_minute = 2;
    let server = serve(settings).await;
    let client = reqwest::Client::new();
    for _ in 0..2 {
        let answer = client.post(&server.url).body("not json").send().await.unwrap();
        assert_ne!(answer.status(), 429);
    }
    let answer = client.post(&server.url).body("not json").send().await.unwrap();
    assert_eq!(answer.status(), 429);
    let seconds: u64 = answer.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((25..=30).contains(&seconds), "two a minute: {seconds}");
    let body: Value = answer.json().await.unwrap();
    assert_eq!(
        (&body["code"], &body["details"]["retry_after_seconds"]),
        (&json!("rate_limited"), &json!(seconds))
    );
    let base = server.url.trim_end_matches("/mcp");
    assert_eq!(
        client.get(format!("{base}/livez")).send().await.unwrap().status(),
        200,
        "probes are not counted"
    );
}

#[tokio::test]
async fn a_person_thinking_is_in_nobodys_way() {
    let mut settings = settings().await;
    (settings.limits.concurrent_calls, settings.limits.queued_calls) = (1, 0);
    settings.clarify.wait = Duration::from_secs(20);
    let server = serve(settings).await;
    let thinking = User::who(&[Does::Hang]);
    let (url, user) = (server.url.clone(), thinking.clone());
    let asked = tokio::spawn(async move {
        call(&url, Era::Legacy, &user, "retrieve", json!({"query": FOREIGN, "source": "wiki"})).await
    });
    while thinking.times_asked() == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let other = User::unreachable();
    content(
        call(&server.url, Era::Modern, &other, "retrieve", json!({"query": CLEAR, "source": "wiki"})).await,
    );
    assert!(!asked.is_finished());
    asked.abort();
}
