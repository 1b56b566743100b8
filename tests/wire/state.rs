//! The sealed state: bound to caller, tool and arguments, carried by the client, good on any replica.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{FOREIGN, Raw, key, serve, server, settings};

/// Fit one document of the corpus.
pub const WORDS: &str = "months of parental leave that parents may take, people team";

fn weak() -> [(&'static str, Value); 2] {
    [
        ("retrieve", json!({"query": FOREIGN, "source": "wiki"})),
        ("refine", json!({"reference": "wiki/printer#0", "query": FOREIGN})),
    ]
}

/// The first round; the state it hands out.
async fn first(url: &str, tool: &str, arguments: &Value) -> String {
    let (status, body) = Raw::call(url, tool, arguments.clone()).send().await;
    assert_eq!(status, 200, "{body:#}");
    let result = &body["result"];
    assert_eq!(result["resultType"], "input_required", "{body:#}");
    let question = &result["inputRequests"]["clarification"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["mode"], "form");
    assert!(question["params"]["message"].as_str().unwrap().contains(FOREIGN));
    assert_eq!(question["params"]["requestedSchema"]["required"], json!(["clarification"]));
    result["requestState"].as_str().unwrap().to_owned()
}

fn answer(content: Value) -> Value {
    json!({"clarification": {"action": "accept", "content": content}})
}

fn refused(status: u16, body: &Value, reason: &str) {
    assert_eq!((status, &body["error"]["code"]), (200, &json!(-32602)), "{body:#}");
    assert_eq!(body["error"]["data"]["reason"], reason, "{body:#}");
}

#[tokio::test]
async fn the_second_round_may_land_on_another_replica() {
    let (one, two) = (server().await, server().await);
    for (tool, arguments) in weak() {
        let state = first(&one.url, tool, &arguments).await;
        let second = Raw::call(&two.url, tool, arguments)
            .with("requestState", json!(state))
            .with("inputResponses", answer(json!({"clarification": WORDS})));
        let (status, body) = second.send().await;
        assert_eq!(status, 200);
        let result = &body["result"]["structuredContent"];
        assert_eq!(result["clarification"]["outcome"], "answered", "{body:#}");
        // Nothing was used up: the same state may come again, as after a lost response.
        assert_eq!(second.send().await.0, 200);
    }
}

#[tokio::test]
async fn keys_rotate_and_other_keys_are_refused() {
    let mut rotated = settings().await;
    rotated.clarify.state_keys = vec![key("new", 2), key("shared", 1)];
    let mut foreign = settings().await;
    foreign.clarify.state_keys = vec![key("other", 3)];
    let (old, rotated, foreign) = (server().await, serve(rotated).await, serve(foreign).await);
    let (tool, arguments) = weak().into_iter().next().unwrap();
    let state = first(&old.url, tool, &arguments).await;
    let second = |url| {
        Raw::call(url, tool, arguments.clone())
            .with("requestState", json!(state))
            .with("inputResponses", answer(json!({"clarification": WORDS})))
    };
    assert_eq!(second(&rotated.url).send().await.0, 200);
    let (status, body) = second(&foreign.url).send().await;
    refused(status, &body, "invalid_request_state");
}

#[tokio::test]
async fn a_state_of_another_call_is_refused() {
    let server = server().await;
    let [(retrieve, query), (refine, reference)] = weak();
    let state = first(&server.url, retrieve, &query).await;
    let mut other = query.clone();
    other["top_k"] = json!(6);
    for (tool, arguments) in [(refine, reference), (retrieve, other)] {
        let call = Raw::call(&server.url, tool, arguments).with("requestState", json!(state));
        let (status, body) = call.send().await;
        refused(status, &body, "invalid_request_state");
    }
    for tampered in [format!("{state}x"), state.replacen('.', "", 1), state.to_uppercase(), String::new()] {
        let call = Raw::call(&server.url, retrieve, query.clone()).with("requestState", json!(tampered));
        let (status, body) = call.send().await;
        refused(status, &body, "invalid_request_state");
    }
}

#[tokio::test]
async fn a_state_expires() {
    let mut settings = settings().await;
    settings.clarify.state_ttl = Duration::from_millis(1);
    let server = serve(settings).await;
    for (tool, arguments) in weak() {
        let state = first(&server.url, tool, &arguments).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        let call = Raw::call(&server.url, tool, arguments).with("requestState", json!(state));
        let (status, body) = call.send().await;
        refused(status, &body, "expired_request_state");
    }
}

#[rstest]
#[case(json!(null))]
#[case(json!(true))]
#[case(json!(3.5))]
#[case(json!("accept"))]
#[case(json!([]))]
#[case(json!({}))]
#[case(json!({"action": 7}))]
#[case(json!({"action": "accept"}))]
#[case(json!({"action": "accept", "content": null}))]
#[case(json!({"action": "accept", "content": [1]}))]
#[case(json!({"action": "accept", "content": {"clarification": 5}}))]
#[tokio::test]
async fn a_malformed_answer_is_asked_again_once(#[case] response: Value) {
    let server = server().await;
    for (tool, arguments) in weak() {
        let state = first(&server.url, tool, &arguments).await;
        let responses = json!({"clarification": response, "unknown-key": {"action": "accept"}});
        let call = Raw::call(&server.url, tool, arguments.clone())
            .with("requestState", json!(state))
            .with("inputResponses", responses.clone());
        let (_, body) = call.send().await;
        assert_eq!(body["result"]["resultType"], "input_required", "{tool} {body:#}");
        let again = body["result"]["requestState"].clone();
        let call = Raw::call(&server.url, tool, arguments)
            .with("requestState", again)
            .with("inputResponses", responses);
        let (_, body) = call.send().await;
        let result = &body["result"]["structuredContent"];
        assert_eq!(result["clarification"]["outcome"], "unusable", "{tool} {body:#}");
    }
}

#[tokio::test]
async fn a_missing_answer_is_asked_again() {
    let server = server().await;
    for (tool, arguments) in weak() {
        let state = first(&server.url, tool, &arguments).await;
        let call = Raw::call(&server.url, tool, arguments).with("requestState", json!(state));
        assert_eq!(call.send().await.1["result"]["resultType"], "input_required");
    }
}

#[tokio::test]
async fn an_answer_without_state_counts_as_the_first() {
    let server = server().await;
    for (tool, arguments) in weak() {
        let call = Raw::call(&server.url, tool, arguments)
            .with("inputResponses", answer(json!({"clarification": WORDS})));
        let (_, body) = call.send().await;
        assert_eq!(body["result"]["structuredContent"]["clarification"]["outcome"], "answered", "{body:#}");
    }
}

#[tokio::test]
async fn a_client_without_elicitation_never_sees_a_question() {
    let server = server().await;
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"sampling": {}})] {
        for (tool, arguments) in weak() {
            let call = Raw::call(&server.url, tool, arguments).capabilities(capabilities.clone());
            let (_, body) = call.send().await;
            assert_eq!(body["result"]["resultType"], "complete");
            assert_eq!(body["result"]["structuredContent"]["clarification"]["outcome"], "unsupported");
        }
    }
}
