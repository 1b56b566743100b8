//! What HTTP lets in, and the probes.

use serde_json::json;

use crate::harness::{CLEAR, Raw, post, serve, server, settings};

fn body() -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "list_sources", "arguments": {},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}}}})
    .to_string()
}

#[tokio::test]
async fn hosts_and_origins_are_let_in_by_name() {
    let mut settings = settings().await;
    settings.server.allowed_hosts.push("askback.example.com".into());
    settings.server.allowed_origins.push("https://app.example.com".into());
    let server = serve(settings).await;
    let name = ("mcp-name", "list_sources");
    for (header, status) in [
        (("x-none", "x"), 200),
        (("host", "askback.example.com"), 200),
        (("host", "evil.example"), 403),
        (("origin", "https://app.example.com"), 200),
        (("origin", "https://evil.example"), 403),
        (("origin", "null"), 403),
    ] {
        let (found, answer) = post(&server.url, &body(), &[name, header]).await;
        assert_eq!(found, status, "{header:?} {answer}");
        // Refused before it is parsed.
        let (found, _) = post(&server.url, "not json", &[name, header]).await;
        assert_eq!(found == 403, status == 403, "{header:?}");
    }
}

#[tokio::test]
async fn no_origin_is_let_in_by_default() {
    let server = server().await;
    let headers = [("mcp-name", "list_sources"), ("origin", "http://localhost:3000")];
    assert_eq!(post(&server.url, &body(), &headers).await.0, 403);
}

#[tokio::test]
async fn probes_answer_whoever_asks() {
    let server = server().await;
    let base = server.url.trim_end_matches("/mcp");
    for (path, status) in [("/livez", "alive"), ("/readyz", "ready")] {
        let request = reqwest::Client::new().get(format!("{base}{path}")).header("host", "10.1.2.3");
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        let body: serde_json::Value = response.json().await.unwrap();
        assert_eq!(body["status"], status);
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let mut settings = settings().await;
    settings.server.max_body = 2000;
    let server = serve(settings).await;
    let (status, _) = Raw::call(&server.url, "retrieve", json!({"query": "x".repeat(3000)})).send().await;
    assert_eq!(status, 413);
    let (status, _) = Raw::call(&server.url, "retrieve", json!({"query": CLEAR})).send().await;
    assert_eq!(status, 200);
}
