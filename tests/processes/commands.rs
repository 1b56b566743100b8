//! `askback access` beside a running server: what is decided here holds there, with the next call.

use std::process::Output;

use serde_json::{Value, json};

use crate::deployment::{Deployment, call};

const RESTRICTED: &str = "[sources.policy]\nvisibility = \"restricted\"\nallowed_groups = [\"staff\"]\nrequestable = true\n\
                          [sources.policy.write]\nallowed = true";

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn complained(output: &Output, exit: i32) -> String {
    assert_eq!(output.status.code(), Some(exit), "{output:?}");
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// The structured content, or the failure's code.
async fn outcome(deployment: &Deployment, tool: &str, arguments: Value) -> Result<Value, String> {
    let result = call(&reqwest::Client::new(), &deployment.url(), tool, &arguments).await.unwrap();
    if result["isError"] != true {
        return Ok(result["structuredContent"].clone());
    }
    let failure: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    Err(failure["code"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_request_is_made_approved_and_withdrawn() {
    let deployment = Deployment::new(RESTRICTED);
    let _server = deployment.serve().await;
    let read = json!({"query": "printer paper", "source": "notes", "clarify": "never"});
    assert_eq!(outcome(&deployment, "retrieve", read.clone()).await, Err("access_denied".to_owned()));
    let ask =
        json!({"source": "notes", "access": "read", "reason": "the quarterly report\n\u{1b}[2J", "days": 5});
    let asked = outcome(&deployment, "request_access", ask.clone()).await.unwrap();
    assert_eq!(asked["status"], "pending");
    assert_eq!(outcome(&deployment, "request_access", ask).await.unwrap()["status"], "already_pending");

    let shown = said(&deployment.run(&["access", "list"]));
    assert!(shown.contains("anonymous") && shown.contains("the quarterly report"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "what a caller wrote does not reach the terminal as it is");
    let listed: Value = serde_json::from_str(&said(&deployment.run(&["access", "list", "--json"]))).unwrap();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["days"]), (1, &json!(5)));
    let id = listed[0]["id"].to_string();
    said(&deployment.run(&["access", "approve", &id, "--days", "30", "--by", "olga"]));
    let found = outcome(&deployment, "retrieve", read.clone()).await.unwrap();
    assert_eq!(found["hits"][0]["reference"], "notes/printer.md#0");
    assert!(complained(&deployment.run(&["access", "deny", &id, "--why", "late"]), 1).contains("by olga"));

    let grants: Value =
        serde_json::from_str(&said(&deployment.run(&["access", "grants", "--json"]))).unwrap();
    let grant = grants[0]["id"].to_string();
    said(&deployment.run(&["access", "revoke", &grant]));
    assert_eq!(outcome(&deployment, "retrieve", read).await, Err("access_denied".to_owned()));

    let printed = said(&deployment.run(&["access", "audit"]));
    let records: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let events: Vec<(&str, &str)> = records
        .iter()
        .map(|record| (record["event"].as_str().unwrap(), record["caller"].as_str().unwrap()))
        .collect();
    assert_eq!(
        events,
        [
            ("access.refused", "anonymous"),
            ("access.requested", "anonymous"),
            ("access.approved", "olga"),
            ("access.revoked", "operator"),
            ("access.refused", "anonymous"),
        ]
    );
    assert!(!printed.contains("printer paper") && !printed.contains("quarterly"), "no query, no reason");
    let after = said(&deployment.run(&["access", "audit", "--after", "3"]));
    assert_eq!(after.lines().count(), 2);
}

#[tokio::test]
async fn a_denial_comes_with_its_reason() {
    let deployment = Deployment::new(RESTRICTED);
    let _server = deployment.serve().await;
    let ask = json!({"source": "notes", "access": "write", "reason": "minutes of meetings"});
    assert_eq!(outcome(&deployment, "request_access", ask.clone()).await.unwrap()["status"], "pending");
    said(&deployment.run(&["access", "deny", "1", "--why", "ask the secretary"]));
    let again = outcome(&deployment, "request_access", ask).await.unwrap();
    assert_eq!(again["status"], "pending");
    assert!(again.to_string().contains("ask the secretary"), "{again:#}");
}

#[test]
fn the_audit_record_is_checked_against_an_end_noted_before() {
    let deployment = Deployment::new(RESTRICTED);
    said(&deployment.run(&["access", "grant", "ada", "notes", "read", "--days", "3"]));
    let checked = said(&deployment.run(&["access", "audit", "--verify"]));
    let head = checked.lines().find_map(|line| line.strip_prefix("head: ")).unwrap().to_owned();
    said(&deployment.run(&["access", "grant", "bob", "notes", "write"]));
    said(&deployment.run(&["access", "audit", "--verify", "--head", &head]));
    let forged = format!("1:{}", "0".repeat(64));
    let complaint = complained(&deployment.run(&["access", "audit", "--verify", "--head", &forged]), 1);
    assert!(complaint.contains("record 1 "), "{complaint}");
    let json = said(&deployment.run(&["access", "audit", "--verify", "--json"]));
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["result"], "intact");
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let deployment = Deployment::new(RESTRICTED);
    for (arguments, exit, words) in [
        (&["access", "approve", "7"][..], 1, "there is no request 7"),
        (&["access", "revoke", "7"], 1, "no grant 7 is in force"),
        (&["access", "grant", "ada", "note", "read"], 2, "did you mean `notes`?"),
        (&["access", "grant", "", "notes", "read"], 2, "subject is empty"),
        (&["access", "grant", "ada", "notes", "all"], 2, "possible values: read, write"),
        (&["access", "grant", "ada", "notes", "read", "--days", "0"], 2, "1..=3650"),
        (&["access", "token", "--subject", "anonymous"], 2, "without credentials"),
        (&["access", "token", "--subject", "ci", "--scope", "all"], 2, "sources.list"),
    ] {
        let complaint = complained(&deployment.run(arguments), exit);
        assert!(complaint.contains(words), "{arguments:?}: {complaint}");
    }
    // Refused commands decide nothing.
    assert_eq!(said(&deployment.run(&["access", "audit"])), "");
}

#[tokio::test]
async fn a_token_that_was_made_is_one_that_is_let_in() {
    let deployment = Deployment::new("");
    let made = said(&deployment.run(&["access", "token", "--subject", "ci", "--days", "1", "--json"]));
    let made: Value = serde_json::from_str(&made).unwrap();
    let config = deployment.path().join("config/default.toml");
    let mut toml = std::fs::read_to_string(&config).unwrap();
    toml.push_str(&format!("[auth]\nmode = \"tokens\"\n{}\n", made["entry"].as_str().unwrap()));
    std::fs::write(&config, &toml).unwrap();
    let token = made["token"].as_str().unwrap();
    assert!(!toml.contains(token), "the configuration holds no token");
    let _server = deployment.serve().await;
    let status = async |token: &str| {
        let request = reqwest::Client::new().post(deployment.url()).bearer_auth(token).body("{}");
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(status("another").await, 401);
    assert_ne!(status(token).await, 401);
}

#[tokio::test]
async fn an_owner_hears_of_a_request() {
    let (heard, mut hears) = tokio::sync::mpsc::unbounded_channel::<(String, Value)>();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let take = axum::routing::post(async move |headers: axum::http::HeaderMap, body: String| {
        let signature = headers["webhook-signature"].to_str().unwrap().to_owned();
        heard.send((signature, serde_json::from_str(&body).unwrap())).unwrap();
    });
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().route("/hook", take)).await });
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let webhook = format!("[access.webhook]\nurl = \"http://{address}/hook\"\nsecret = \"{secret}\"");
    let deployment = Deployment::new(&format!("{RESTRICTED}\n{webhook}"));
    let _server = deployment.serve().await;
    let ask = json!({"source": "notes", "access": "read", "reason": "the quarterly report"});
    assert_eq!(outcome(&deployment, "request_access", ask).await.unwrap()["status"], "pending");
    let heard = tokio::time::timeout(std::time::Duration::from_secs(60), hears.recv()).await;
    let (signature, body) = heard.unwrap().unwrap();
    assert!(signature.starts_with("v1,"));
    assert_eq!((&body["type"], &body["data"]["source"]), (&json!("access.requested"), &json!("notes")));
    assert_eq!(body["data"]["reason"], "the quarterly report");
}
