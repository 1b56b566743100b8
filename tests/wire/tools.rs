//! What each tool answers.

use serde_json::{Value, json};

use crate::harness::{Does, Era, User, call, code, connect, content, server};

const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];

#[tokio::test]
async fn both_eras_see_the_same_six_tools_and_who_serves_them() {
    let server = server().await;
    for era in ERAS {
        let client = connect(&server.url, era, &User::who(&[Does::Decline])).await;
        let tools = client.list_all_tools().await.unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(
            names,
            ["list_sources", "describe_source", "retrieve", "refine", "write", "request_access"]
        );
        let resources = client.list_all_resources().await.unwrap();
        assert_eq!(resources[0].uri, "askback://sources/wiki");
        let prompts = client.list_all_prompts().await.unwrap();
        assert_eq!(prompts[0].name, "wiki-1");
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn sources_are_listed_and_described() {
    let server = server().await;
    for era in ERAS {
        let user = User::unreachable();
        let list = content(call(&server.url, era, &user, "list_sources", json!({})).await);
        let wiki = &list["sources"][0];
        assert_eq!(
            (&wiki["slug"], &wiki["documents"], &wiki["access"], &wiki["clarifies"]),
            (&json!("wiki"), &json!(18), &json!("read"), &json!(true))
        );
        let none = content(call(&server.url, era, &user, "list_sources", json!({"family": "places"})).await);
        assert_eq!(none["sources"], json!([]));
        let card = content(call(&server.url, era, &user, "describe_source", json!({"source": "wiki"})).await);
        assert_eq!((&card["owner"], &card["counts"]["documents"]), (&json!("Wiki team"), &json!(18)));
        // 18 passages are too few to calibrate on, and the card says so.
        assert_eq!(card["calibration"]["calibrated"], false);
        let missing = card["completeness"]["missing"].as_array().unwrap();
        assert!(missing.contains(&json!("coverage")) && !missing.contains(&json!("owner")));
        assert_eq!(card["refine_strategies"], json!(["section", "adjacent", "document", "similar"]));
    }
}

#[tokio::test]
async fn failures_carry_stable_codes() {
    let server = server().await;
    let write = json!({"source": "wiki", "mode": "append", "content": "x", "provenance": {"origin": "test"}});
    let cases: Vec<(&str, Value, &str)> = vec![
        ("describe_source", json!({"source": "wikki"}), "source_not_found"),
        ("retrieve", json!({"query": "x", "source": ["wiki", "nope"]}), "source_not_found"),
        ("retrieve", json!({"query": "   "}), "invalid_argument"),
        ("retrieve", json!({"query": "x", "top_k": 0}), "invalid_argument"),
        ("retrieve", json!({"query": "x", "top_k": 51}), "invalid_argument"),
        ("retrieve", json!({"query": "x", "topk": 5}), "invalid_argument"),
        ("retrieve", json!({"query": "x", "filters": {"year": 1}}), "invalid_argument"),
        ("retrieve", json!({"query": "x", "choice": "not a reference"}), "invalid_argument"),
        ("refine", json!({"reference": "wiki/nope#0"}), "reference_not_found"),
        ("refine", json!({"reference": "wiki/printer#9"}), "reference_not_found"),
        ("refine", json!({"reference": "nope/printer#0"}), "source_not_found"),
        ("refine", json!({"reference": "wiki/printer#0", "strategy": "entity"}), "strategy_not_supported"),
        ("list_sources", json!({"cursor": "§"}), "invalid_argument"),
        ("write", write, "write_not_allowed"),
        ("request_access", json!({"source": "wiki", "access": "write", "reason": "x"}), "write_not_allowed"),
        ("request_access", json!({"source": "wiki", "access": "read", "reason": " "}), "invalid_argument"),
    ];
    for era in ERAS {
        for (tool, arguments, expected) in &cases {
            let tool: &'static str = Box::leak((*tool).to_owned().into_boxed_str());
            let result = call(&server.url, era, &User::unreachable(), tool, arguments.clone()).await;
            assert_eq!(code(&result), *expected, "{tool} {arguments}");
        }
    }
}

#[tokio::test]
async fn an_unknown_source_names_the_nearest() {
    let server = server().await;
    let result = call(
        &server.url,
        Era::Modern,
        &User::unreachable(),
        "retrieve",
        json!({"query": "x", "source": "wikki"}),
    )
    .await;
    let failure: Value = serde_json::from_str(&result.content[0].as_text().unwrap().text).unwrap();
    assert_eq!(failure["details"]["nearest"], json!(["wiki"]));
}

#[tokio::test]
async fn reading_is_granted_already() {
    let server = server().await;
    let arguments = json!({"source": "wiki", "access": "read", "reason": "to answer questions"});
    let result =
        content(call(&server.url, Era::Modern, &User::unreachable(), "request_access", arguments).await);
    assert_eq!(result["status"], "already_granted");
}

#[tokio::test]
async fn refine_reads_on_from_a_hit() {
    let server = server().await;
    for era in ERAS {
        for strategy in ["auto", "adjacent", "section", "document"] {
            let arguments = json!({"reference": "wiki/printer#0", "strategy": strategy});
            let result = content(call(&server.url, era, &User::unreachable(), "refine", arguments).await);
            assert_eq!(result["passages"].as_array().unwrap().len(), 1, "{strategy}");
            assert_eq!(
                (&result["passages"][0]["is_origin"], &result["status"]),
                (&json!(true), &json!("ok"))
            );
        }
        let arguments = json!({"reference": "wiki/session-timeout#0", "strategy": "similar", "window": 2});
        let result = content(call(&server.url, era, &User::unreachable(), "refine", arguments).await);
        let passages = result["passages"].as_array().unwrap();
        assert_eq!(passages.len(), 3);
        assert!(
            passages[1..]
                .iter()
                .all(|p| p["is_origin"] == false && p["reference"] != "wiki/session-timeout#0")
        );
    }
}

#[tokio::test]
async fn hits_say_where_they_come_from_and_fit_the_budget() {
    let server = server().await;
    let arguments =
        json!({"query": "parental leave for parents", "top_k": 3, "max_tokens": 10, "clarify": "never"});
    let result = content(call(&server.url, Era::Modern, &User::unreachable(), "retrieve", arguments).await);
    let hit = &result["hits"][0];
    // Ten tokens of four characters each; the first hit stays, shortened.
    assert_eq!((result["hits"].as_array().unwrap().len(), result["truncated"].as_bool()), (1, Some(true)));
    assert_eq!(hit["text"].as_str().unwrap().chars().count(), 40);
    let provenance = &hit["provenance"];
    assert_eq!(
        (&provenance["origin"], &provenance["trust"]),
        (&json!("corpus.jsonl"), &json!("curated_reviewed"))
    );
    assert_eq!(provenance["content_sha256"].as_str().unwrap().len(), 64);
}
