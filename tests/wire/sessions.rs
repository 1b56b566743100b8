//! Sessions of the older protocol: whose they are, and how many there can be. And bodies that no
//! protocol can read.

use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    auth::with_tokens,
    harness::{serve, server, settings},
};

async fn send(url: &str, token: Option<&str>, session: Option<&str>, message: &Value) -> Response {
    let mut request = Client::new()
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(message.to_string());
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    if let Some(session) = session {
        request = request.header("mcp-session-id", session).header("mcp-protocol-version", "2025-11-25");
    }
    request.send().await.unwrap()
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}})
}

fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})
}

async fn begin(url: &str, token: Option<&str>) -> String {
    let response = send(url, token, None, &initialize()).await;
    assert_eq!(response.status(), 200);
    let session = response.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(send(url, token, Some(&session), &initialized).await.status(), 202);
    session
}

#[tokio::test]
async fn a_session_is_its_callers_alone() {
    let server = with_tokens().await;
    let session = begin(&server.url, Some("alice-token")).await;
    let status = async |token: Option<&str>, session: &str| {
        send(&server.url, token, Some(session), &ping()).await.status().as_u16()
    };
    assert_eq!(status(Some("alice-token"), &session).await, 200);
    assert_eq!(status(Some("bob-token"), &session).await, 404, "as if there were none");
    assert_eq!(status(Some("bob-token"), "made-up").await, 404);
    assert_eq!(status(None, &session).await, 401);
    let client = Client::new();
    for (request, expected) in [
        (client.get(&server.url).header("accept", "text/event-stream"), 404),
        (client.delete(&server.url), 404),
    ] {
        let request = request.header("mcp-session-id", &session).header("mcp-protocol-version", "2025-11-25");
        assert_eq!(request.bearer_auth("bob-token").send().await.unwrap().status(), expected);
    }
    assert_eq!(status(Some("alice-token"), &session).await, 200, "nobody ended it");
}

#[tokio::test]
async fn there_are_only_so_many_sessions() {
    let mut settings = settings().await;
    settings.server.max_sessions = 2;
    let server = serve(settings).await;
    let first = begin(&server.url, None).await;
    begin(&server.url, None).await;
    let full = send(&server.url, None, None, &initialize()).await;
    assert_eq!(full.status(), 503);
    assert_eq!(full.headers()["retry-after"], "60");
    let body: Value = full.json().await.unwrap();
    assert_eq!(
        (body["code"].as_str(), &body["details"]["retry_after_seconds"]),
        (Some("rate_limited"), &json!(60))
    );
    // One that ends makes room.
    let end = Client::new().delete(&server.url).header("mcp-session-id", &first);
    assert!(end.header("mcp-protocol-version", "2025-11-25").send().await.unwrap().status().is_success());
    begin(&server.url, None).await;
}

/// Sends bytes as they are; what comes back.
async fn raw(url: &str, request: String) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer).await;
    answer
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_the_senders_mistake() {
    let server = server().await;
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
                accept: application/json, text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let answer = raw(&server.url, format!("{head}zz\r\nnot a chunk\r\n0\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let mut settings = settings().await;
    settings.server.max_body = 1024;
    let server = serve(settings).await;
    let long = "x".repeat(2000);
    let answer = raw(&server.url, format!("{head}7d0\r\n{long}\r\n0\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("1024"), "the limit is named: {answer}");
}
