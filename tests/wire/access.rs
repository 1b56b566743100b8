//! What a caller may not know of is not there, by any way of asking; and access that is asked for,
//! granted and lapses.

use askback::store::{
    SqliteState,
    state::{Access, Actor, Decision, NewGrant, StateStore},
};
use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams};
use rstest::rstest;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use crate::harness::{Era, Raw, Server, User, call, code, connect, content, own, serve};

const CARD: &str = "[sources.card]\nsample_queries = [\"Which paper do the printers take?\"]\n";
const RESTRICTED: &str = "[sources.policy]\nvisibility = \"restricted\"\nallowed_groups = [\"staff\"]\n\
                          [sources.policy.write]\nallowed = true\n";
const DRAFT: &str =
    "[sources.policy]\nstatus = \"draft\"\nrequestable = true\n[sources.policy.write]\nallowed = true\n";
const REQUESTABLE: &str = "[sources.policy]\nvisibility = \"restricted\"\nallowed_groups = [\"staff\"]\nrequestable = true\n\
                           [sources.policy.write]\nallowed = true\n";

/// Two servers: one where the source `vault` is hidden, one where there is none.
async fn with_and_without(policy: &str) -> (Server, Server) {
    let hidden = format!("{CARD}{policy}");
    let with = own(&[("wiki", CARD), ("vault", &hidden)]).await;
    let without = own(&[("wiki", CARD)]).await;
    (serve(with).await, serve(without).await)
}

/// The answer without what is different about every call.
fn comparable(mut answer: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for volatile in
                    ["request_id", "fetched_at", "last_refreshed", "index_version", "requestState"]
                {
                    fields.remove(volatile);
                }
                fields.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            Value::String(text) => {
                // The text of a result is its structure once more.
                if let Ok(mut inner @ Value::Object(_)) = serde_json::from_str::<Value>(text) {
                    strip(&mut inner);
                    *text = inner.to_string();
                }
            }
            _ => {}
        }
    }
    strip(&mut answer);
    answer
}

#[rstest]
#[case::restricted(RESTRICTED)]
#[case::draft(DRAFT)]
#[tokio::test]
async fn a_hidden_source_answers_like_one_that_does_not_exist(#[case] policy: &str) {
    let (with, without) = with_and_without(policy).await;
    let provenance = json!({"origin": "a talk"});
    let calls = [
        ("list_sources", json!({})),
        ("describe_source", json!({"source": "vault"})),
        // Close enough to be suggested.
        ("describe_source", json!({"source": "vautl"})),
        ("describe_source", json!({"source": "wikki"})),
        ("retrieve", json!({"query": "printers paper", "source": "vault"})),
        ("retrieve", json!({"query": "printers paper", "source": ["wiki", "vault"]})),
        ("retrieve", json!({"query": "printers paper", "source": "*"})),
        ("retrieve", json!({"query": "zeppelin", "source": "*"})),
        ("retrieve", json!({"query": "printers", "source": "*", "choice": "vault/printer#0"})),
        ("retrieve", json!({"query": "printers", "source": "wiki", "choice": "vault/printer#0"})),
        ("refine", json!({"reference": "vault/printer#0"})),
        ("refine", json!({"reference": "vault/nothing#0"})),
        ("refine", json!({"reference": "wiki/printer#0", "choice": "vault/printer#0"})),
        ("write", json!({"source": "vault", "mode": "append", "content": "x", "provenance": provenance})),
        (
            "write",
            json!({"source": "vault", "mode": "annotate", "reference": "vault/printer#0", "content": "x",
            "provenance": provenance}),
        ),
        (
            "write",
            json!({"source": "wiki", "mode": "annotate", "reference": "vault/printer#0", "content": "x",
            "provenance": provenance}),
        ),
        ("request_access", json!({"source": "vault", "access": "read", "reason": "x"})),
        ("request_access", json!({"source": "vault", "access": "write", "reason": ""})),
    ];
    for (tool, arguments) in calls {
        let answer = async |server: &Server| {
            let (status, body) = Raw::call(&server.url, tool, arguments.clone()).send().await;
            (status, comparable(body))
        };
        let (there, not_there) = (answer(&with).await, answer(&without).await);
        assert_eq!(there, not_there, "{tool} {arguments}");
    }
    let described = failed(&with, "describe_source", json!({"source": "vault"})).await;
    assert_eq!(described, "source_not_found");
}

async fn failed(server: &Server, tool: &'static str, arguments: Value) -> String {
    code(&call(&server.url, Era::Modern, &User::unreachable(), tool, arguments).await)
}

#[rstest]
#[case::restricted(RESTRICTED)]
#[case::draft(DRAFT)]
#[tokio::test]
async fn nor_is_it_among_resources_and_prompts(
    #[case] policy: &str,
    #[values(Era::Modern, Era::Legacy)] era: Era,
) {
    let (with, without) = with_and_without(policy).await;
    let seen = async |server: &Server| {
        let client = connect(&server.url, era, &User::unreachable()).await;
        let resources = client.list_all_resources().await.unwrap();
        let prompts = client.list_all_prompts().await.unwrap();
        let read = client.read_resource(ReadResourceRequestParams::new("askback://sources/vault")).await;
        let prompt = client.get_prompt(GetPromptRequestParams::new("vault-1")).await;
        client.cancel().await.unwrap();
        let shown = json!([resources, prompts]).to_string();
        (shown, read.unwrap_err().to_string(), prompt.unwrap_err().to_string())
    };
    assert_eq!(seen(&with).await, seen(&without).await);
}

#[tokio::test]
async fn what_can_be_asked_for_is_known_of_and_not_read() {
    let server = serve(own(&[("wiki", ""), ("vault", REQUESTABLE)]).await).await;
    let user = User::unreachable();
    let ask = async |tool, arguments| call(&server.url, Era::Modern, &user, tool, arguments).await;
    let listed = content(ask("list_sources", json!({})).await);
    let levels: Vec<(&str, &str)> = listed["sources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|source| (source["slug"].as_str().unwrap(), source["access"].as_str().unwrap()))
        .collect();
    assert_eq!(levels, [("vault", "requestable"), ("wiki", "read")]);
    content(ask("describe_source", json!({"source": "vault"})).await);
    assert_eq!(
        code(&ask("retrieve", json!({"query": "printers", "source": "vault"})).await),
        "access_denied"
    );
    assert_eq!(code(&ask("refine", json!({"reference": "vault/printer#0"})).await), "access_denied");
    // All sources are all that may be read.
    let found = content(ask("retrieve", json!({"query": "printers paper", "clarify": "never"})).await);
    let hits = found["hits"].as_array().unwrap();
    assert!(!hits.is_empty());
    assert!(hits.iter().all(|hit| hit["reference"].as_str().unwrap().starts_with("wiki/")), "{hits:?}");
    let write = json!({"source": "vault", "mode": "append", "content": "x", "provenance": {"origin": "x"}});
    assert_eq!(code(&ask("write", write).await), "access_denied");
}

#[tokio::test]
async fn sources_that_do_not_answer_say_why() {
    let curated = "[sources.policy]\nstatus = \"curated\"\n[sources.policy.write]\nallowed = true\n";
    let retired = "[sources.policy]\nstatus = \"retired\"\n[sources.policy.write]\nallowed = true\n";
    let server = serve(own(&[("soon", curated), ("gone", retired)]).await).await;
    for (slug, status, expected) in
        [("soon", "curated", "source_not_published"), ("gone", "retired", "source_retired")]
    {
        let write = json!({"source": slug, "mode": "append", "content": "x", "provenance": {"origin": "x"}});
        for (tool, arguments) in [
            ("retrieve", json!({"query": "printers", "source": slug})),
            ("refine", json!({"reference": format!("{slug}/printer#0")})),
            ("write", write),
            ("request_access", json!({"source": slug, "access": "read", "reason": "x"})),
        ] {
            assert_eq!(failed(&server, tool, arguments).await, expected, "{tool}");
        }
        let describe = json!({"source": slug});
        let card = call(&server.url, Era::Modern, &User::unreachable(), "describe_source", describe).await;
        assert_eq!(content(card)["status"], status);
    }
}

fn owner() -> Actor {
    Actor { subject: "olga".to_owned(), kind: "operator".to_owned() }
}

#[rstest]
#[tokio::test]
async fn after_approval_the_next_call_works_on_every_replica(#[values(Era::Modern, Era::Legacy)] era: Era) {
    let settings = own(&[("vault", REQUESTABLE)]).await;
    let state = SqliteState::new(&settings.data.dir);
    let (one, other) = (serve(settings.clone()).await, serve(settings).await);
    let user = User::unreachable();
    let ask = json!({"source": "vault", "access": "write", "reason": "minutes", "days": 9});
    let asked = content(call(&one.url, era, &user, "request_access", ask.clone()).await);
    assert_eq!(asked["status"], "pending");
    // The other replica knows of it.
    let again = content(call(&other.url, era, &user, "request_access", ask.clone()).await);
    assert_eq!(
        (&again["status"], &again["access_request"]),
        (&json!("already_pending"), &asked["access_request"])
    );

    let id = asked["access_request"].as_u64().unwrap();
    let now = OffsetDateTime::now_utc();
    state.decide(id, &Decision::Approve { days: None }, &owner(), now).unwrap().unwrap();
    for server in [&one, &other] {
        let query = json!({"query": "printers paper", "source": "vault", "clarify": "never"});
        content(call(&server.url, era, &user, "retrieve", query).await);
        let write =
            json!({"source": "vault", "mode": "append", "content": "A note", "provenance": {"origin": "x"}});
        content(call(&server.url, era, &user, "write", write).await);
    }
    let granted = content(call(&one.url, era, &user, "request_access", ask).await);
    assert_eq!(granted["status"], "already_granted");
    let expires = granted["expires_at"].as_str().unwrap();
    let day = (now + Duration::days(9)).date().to_string();
    assert!(expires.starts_with(&day), "nine days on is {day}: {expires}");
}

#[tokio::test]
async fn a_grant_lapses_while_the_server_runs() {
    let settings = own(&[("vault", REQUESTABLE)]).await;
    let state = SqliteState::new(&settings.data.dir);
    let server = serve(settings).await;
    let grant = NewGrant {
        subject: "anonymous".to_owned(),
        source: "vault".to_owned(),
        access: Access::Read,
        days: Some(1),
        by: owner(),
    };
    // Given a day ago, but for four seconds.
    state.grant(&grant, OffsetDateTime::now_utc() - Duration::days(1) + Duration::seconds(4)).unwrap();
    let query = json!({"query": "printers paper", "source": "vault", "clarify": "never"});
    let user = User::unreachable();
    let ask = || call(&server.url, Era::Modern, &user, "retrieve", query.clone());
    content(ask().await);
    tokio::time::sleep(std::time::Duration::from_millis(4100)).await;
    assert_eq!(code(&ask().await), "access_denied");
}

#[tokio::test]
async fn who_was_kept_out_is_on_record_and_why() {
    let settings = own(&[("vault", REQUESTABLE), ("crypt", RESTRICTED)]).await;
    let state = SqliteState::new(&settings.data.dir);
    let server = serve(settings).await;
    failed(&server, "retrieve", json!({"query": "my secret question", "source": "vault"})).await;
    // A guess at what is hidden is no access decision of its owner's, and must not fill the record.
    failed(&server, "retrieve", json!({"query": "printers", "source": "crypt"})).await;
    failed(&server, "retrieve", json!({"query": "printers", "source": "nothing"})).await;
    let records = state.audit(0, 10).unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].event.as_str(), records[0].source.as_str()), ("access.refused", "vault"));
    assert!(!serde_json::to_string(&records).unwrap().contains("secret question"));
}
