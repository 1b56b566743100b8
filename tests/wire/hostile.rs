//! Input made to hurt: it gets a stable code or a protocol error, and the service goes on.

use serde_json::{Value, json};

use crate::harness::{CLEAR, Raw, post, server};

/// Whatever came back is an answer: a result with a known code, or a protocol error; and it says
/// nothing of the server's insides.
fn is_civil(status: u16, body: &Value, what: &str) {
    assert!(status < 500, "{what}: {status} {body}");
    let text = body.to_string();
    for leak in ["panicked", "src/", ".rs:", "/root", "/home", "/tmp", "stack backtrace"] {
        assert!(!text.contains(leak), "{what}: {text}");
    }
    assert!(text.len() < 200_000, "{what}: {} bytes", text.len());
}

#[tokio::test]
async fn odd_values_in_every_argument() {
    let server = server().await;
    let long = "x".repeat(1 << 20);
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!("\u{0}\u{1}\u{202e}"),
        json!(long),
        json!([[[[]]]]),
        json!({"a": {"b": []}}),
        json!("../../etc/passwd#0"),
        json!("wiki/../../etc/passwd#0"),
        json!("wiki//etc/passwd#0"),
        json!("wiki/%2e%2e%2fpasswd#0"),
    ];
    let tools = [
        ("list_sources", json!({}), vec!["family", "cursor"]),
        ("describe_source", json!({"source": "wiki"}), vec!["source"]),
        (
            "retrieve",
            json!({"query": CLEAR}),
            vec![
                "query",
                "source",
                "top_k",
                "clarification",
                "choice",
                "clarify",
                "rewrite",
                "max_tokens",
                "filters",
                "other",
            ],
        ),
        (
            "refine",
            json!({"reference": "wiki/printer#0"}),
            vec![
                "reference",
                "query",
                "strategy",
                "window",
                "max_tokens",
                "clarification",
                "choice",
                "clarify",
            ],
        ),
        (
            "write",
            json!({"source": "wiki", "mode": "append", "content": "x", "provenance": {"origin": "x"}}),
            vec!["source", "mode", "content", "title", "key", "reference", "provenance", "idempotency_key"],
        ),
        (
            "request_access",
            json!({"source": "wiki", "access": "read", "reason": "x"}),
            vec!["source", "access", "reason", "days"],
        ),
    ];
    for (tool, base, fields) in &tools {
        for field in fields {
            for value in &values {
                let mut arguments = base.clone();
                arguments[*field] = value.clone();
                let (status, body) = Raw::call(&server.url, tool, arguments).send().await;
                let what = format!("{tool}.{field} = {:.60}", value.to_string());
                is_civil(status, &body, &what);
                let result = &body["result"];
                if result["isError"] == true {
                    let text = result["content"][0]["text"].as_str().unwrap();
                    let failure: Value = serde_json::from_str(text).unwrap();
                    let code = failure["code"].as_str().unwrap();
                    assert_ne!(code, "internal_error", "{what}: {failure}");
                }
            }
        }
    }
}

#[tokio::test]
async fn odd_requests() {
    let server = server().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let call =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    let bodies = [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "{".to_owned(),
        deep.clone(),
        call(&deep),
        call(r#"{"name":"retrieve","arguments":[]}"#),
        call(r#"{"name":"retrieve","arguments":"x"}"#),
        call(r#"{"name":5}"#),
        call(r#"{"name":"retrieve","arguments":{"query":"\ud800"}}"#),
        call(r#"{"name":"no_such_tool","arguments":{}}"#),
        call(r#"{"name":"retrieve","arguments":{"query":"x"},"inputResponses":"x"}"#),
        call(r#"{"name":"retrieve","arguments":{"query":"x"},"requestState":5}"#),
    ];
    for body in &bodies {
        let (status, answer) = post(&server.url, body, &[("mcp-name", "retrieve")]).await;
        is_civil(status, &answer, &format!("{body:.60}"));
        assert!(
            status >= 400 || answer.get("error").is_some() || answer["result"]["isError"] == true,
            "{body:.60}: {answer}"
        );
    }
    // And it still works.
    let (status, body) = Raw::call(&server.url, "retrieve", json!({"query": CLEAR})).send().await;
    assert_eq!((status, &body["result"]["structuredContent"]["status"]), (200, &json!("ok")));
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error() {
    let server = server().await;
    let (_, body) = Raw::call(&server.url, "drop_tables", json!({})).send().await;
    assert_eq!(body["error"]["code"], -32602, "{body:#}");
}
