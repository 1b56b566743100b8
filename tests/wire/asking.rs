//! The outcome table: every row, for both tools that ask, in both eras.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{CLEAR, Does, Era, FOREIGN, User, VAGUE, call, content, serve, server, settings};

const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];

/// A call of each asking tool that is weak enough to be asked about in words.
fn weak() -> [(&'static str, Value); 2] {
    [
        ("retrieve", json!({"query": FOREIGN, "source": "wiki"})),
        ("refine", json!({"reference": "wiki/printer#0", "query": FOREIGN})),
    ]
}

/// A call of each asking tool that fits several things.
fn ambiguous() -> [(&'static str, Value); 2] {
    [
        ("retrieve", json!({"query": VAGUE, "source": "wiki"})),
        ("refine", json!({"reference": "wiki/gpu-cluster#0", "query": "sessions end after hours timeout"})),
    ]
}

/// What was found, whatever the tool calls it.
fn found(result: &Value) -> &Vec<Value> {
    result["hits"].as_array().or(result["passages"].as_array()).unwrap()
}

fn outcome(result: &Value) -> &str {
    result["clarification"]["outcome"].as_str().unwrap()
}

#[rstest]
#[case::declines(&[Does::Decline], "declined", 1)]
#[case::cancels(&[Does::Cancel], "cancelled", 1)]
#[case::accepts_nothing_twice(&[Does::Accept(json!({}))], "unusable", 2)]
#[case::accepts_punctuation_twice(&[Does::Accept(json!({"clarification": "?!"}))], "unusable", 2)]
#[case::clarifies(&[Does::Accept(json!({"clarification": "how long may parents take parental leave"}))], "answered", 1)]
#[case::recovers(&[Does::Accept(json!({})), Does::Accept(json!({"clarification": "how long is parental leave for parents"}))], "answered", 2)]
#[tokio::test]
async fn weak_results(#[case] script: &[Does], #[case] expected: &str, #[case] asked: usize) {
    let server = server().await;
    for era in ERAS {
        for (tool, arguments) in weak() {
            let user = User::who(script);
            let result = content(call(&server.url, era, &user, tool, arguments).await);
            assert_eq!(outcome(&result), expected, "{era:?} {tool} {result:#}");
            assert_eq!(user.times_asked(), asked, "{era:?} {tool}");
            assert_eq!(result["clarification"]["asked"].as_array().unwrap().len(), asked);
            assert!(!found(&result).is_empty(), "{era:?} {tool}");
            if expected == "answered" {
                let text = found(&result)[0]["reference"].as_str().unwrap();
                assert_eq!(text, "wiki/parental-leave#0", "{era:?} {tool}");
            }
        }
    }
}

#[tokio::test]
async fn a_choice_is_that_option_only_and_the_others_stay_listed() {
    let server = server().await;
    for era in ERAS {
        for (tool, arguments) in ambiguous() {
            let user = User::who(&[Does::PickFirst]);
            let result = content(call(&server.url, era, &user, tool, arguments).await);
            assert_eq!(outcome(&result), "answered", "{era:?} {tool} {result:#}");
            assert_eq!(user.times_asked(), 1, "{era:?} {tool}");
            let choice = result["clarification"]["answer"]["choice"].as_str().unwrap();
            assert_eq!(found(&result).len(), 1, "{era:?} {tool} {result:#}");
            assert_eq!(found(&result)[0]["reference"], choice);
            let others = result["alternatives"].as_array().unwrap();
            assert!(
                !others.is_empty() && others.iter().all(|other| other["reference"] != choice),
                "{result:#}"
            );
        }
    }
}

#[tokio::test]
async fn options_are_titled_and_end_with_none_of_these() {
    let server = server().await;
    for era in ERAS {
        let user = User::who(&[Does::Decline]);
        call(&server.url, era, &user, "retrieve", json!({"query": VAGUE})).await;
        let question = user.questions.lock().unwrap()[0].clone();
        let options =
            question["requestedSchema"]["properties"]["choice"]["oneOf"].as_array().unwrap().clone();
        assert!((3..=11).contains(&options.len()), "{question:#}");
        assert_eq!(options.last().unwrap()["const"], "none");
        let labels: Vec<&str> = options.iter().map(|option| option["title"].as_str().unwrap()).collect();
        assert!(labels.contains(&"Session timeout"), "{labels:?}");
        assert_eq!(labels.iter().collect::<std::collections::HashSet<_>>().len(), labels.len());
    }
}

#[tokio::test]
async fn a_strong_result_asks_nobody() {
    let server = server().await;
    for era in ERAS {
        let user = User::who(&[Does::Decline]);
        let result = content(call(&server.url, era, &user, "retrieve", json!({"query": CLEAR})).await);
        assert_eq!((outcome(&result), user.times_asked()), ("not_needed", 0), "{result:#}");
        assert_eq!(
            (result["status"].as_str(), result["hits"][0]["title"].as_str()),
            (Some("ok"), Some("Parental leave"))
        );
        let user = User::who(&[Does::Decline]);
        let arguments = json!({"reference": "wiki/parental-leave#0", "query": CLEAR});
        let result = content(call(&server.url, era, &user, "refine", arguments).await);
        assert_eq!((outcome(&result), user.times_asked()), ("not_needed", 0), "{result:#}");
    }
}

#[tokio::test]
async fn whoever_cannot_be_asked_gets_everything_annotated() {
    let server = server().await;
    for era in ERAS {
        for (tool, arguments) in weak().into_iter().chain(ambiguous()) {
            let user = User::unreachable();
            let result = content(call(&server.url, era, &user, tool, arguments).await);
            assert_eq!((outcome(&result), user.times_asked()), ("unsupported", 0), "{era:?} {tool}");
            assert_ne!(result["status"], "ok");
            assert!(!found(&result).is_empty());
        }
    }
}

#[tokio::test]
async fn asking_can_be_switched_off_in_three_ways() {
    let mut off = settings().await;
    off.clarify.enabled = false;
    let off = serve(off).await;
    let mut skipping = settings().await;
    skipping.clarify.skip_clients.insert("mute client".into());
    let skipping = serve(skipping).await;
    let server = server().await;
    for era in ERAS {
        for (tool, arguments) in weak() {
            let mut never = arguments.clone();
            never["clarify"] = json!("never");
            for (url, user, arguments) in [
                (&off.url, User::who(&[Does::Decline]), arguments.clone()),
                (&skipping.url, User::who(&[Does::Decline]).named("Mute Client"), arguments),
                (&server.url, User::who(&[Does::Decline]), never),
            ] {
                let result = content(call(url, era, &user, tool, arguments).await);
                assert_eq!((outcome(&result), user.times_asked()), ("disabled", 0), "{era:?} {tool}");
                assert!(!found(&result).is_empty());
            }
        }
    }
}

#[tokio::test]
async fn rounds_are_limited() {
    let mut settings = settings().await;
    settings.clarify.max_rounds = 1;
    let server = serve(settings).await;
    for era in ERAS {
        for (tool, arguments) in weak() {
            // A word the corpus knows, and still next to nothing about it.
            let user = User::who(&[Does::Accept(json!({"clarification": "pizza lunch"}))]);
            let result = content(call(&server.url, era, &user, tool, arguments).await);
            assert_eq!((outcome(&result), user.times_asked()), ("exhausted", 1), "{era:?} {tool} {result:#}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_brings_nothing_known_is_not_asked_about_again() {
    let server = server().await;
    for era in ERAS {
        for (tool, arguments) in weak() {
            let user = User::who(&[Does::Accept(json!({"clarification": "margherita vesuvio"}))]);
            let result = content(call(&server.url, era, &user, tool, arguments).await);
            assert_eq!((outcome(&result), user.times_asked()), ("answered", 1), "{era:?} {tool}");
        }
    }
}

#[tokio::test]
async fn arguments_carry_on_what_a_client_could_not_ask() {
    let server = server().await;
    for era in ERAS {
        let user = User::unreachable();
        let first = content(call(&server.url, era, &user, "retrieve", json!({"query": VAGUE})).await);
        let choice = first["alternatives"][1]["reference"].clone();
        let second = content(
            call(&server.url, era, &user, "retrieve", json!({"query": VAGUE, "choice": choice})).await,
        );
        assert_eq!(outcome(&second), "answered");
        assert_eq!((second["hits"].as_array().unwrap().len(), &second["hits"][0]["reference"]), (1, &choice));
        let words = json!({"query": VAGUE, "clarification": "signed out of my account without activity"});
        let third = content(call(&server.url, era, &user, "retrieve", words).await);
        assert_eq!(outcome(&third), "answered");
        assert_eq!(third["hits"][0]["reference"], "wiki/session-timeout#0", "{third:#}");
        assert_eq!(third["executed_queries"][1]["origin"], "clarification");
        assert_eq!(third["hits"][0]["provenance"]["rewritten"], true);
    }
}

#[tokio::test]
async fn a_choice_that_is_gone_is_stale_not_an_error() {
    let server = server().await;
    for era in ERAS {
        for (tool, mut arguments) in weak() {
            arguments["choice"] = json!("wiki/was-deleted#0");
            let result = content(call(&server.url, era, &User::unreachable(), tool, arguments).await);
            assert_eq!(outcome(&result), "stale_choice", "{era:?} {tool}");
            assert!(!found(&result).is_empty());
        }
    }
}
