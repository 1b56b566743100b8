//! A source of places: a name that several go by is asked about, and every way not to answer gets them all.

use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Does, Era, Server, User, call, content, serve, settings_of};

const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];

/// The Springfields of 15,000 inhabitants and more, by population: MO, MA, IL, OR, OH, VA, PA, TN.
const SPRINGFIELDS: [&str; 8] =
    ["4409896", "4951788", "4250542", "5754005", "4525353", "4787117", "4561407", "4659557"];
const ILLINOIS: &str = "places/4250542#0";

async fn server() -> Server {
    serve(settings_of("[[sources]]\nslug = \"places\"\nkind = \"places\"\n").await).await
}

fn references(result: &Value) -> Vec<&str> {
    let found = result["hits"].as_array().or(result["passages"].as_array()).unwrap();
    found.iter().map(|hit| hit["reference"].as_str().unwrap()).collect()
}

fn all() -> Vec<String> {
    SPRINGFIELDS.map(|id| format!("places/{id}#0")).to_vec()
}

#[tokio::test]
async fn a_choice_is_that_place_only() {
    let server = server().await;
    for era in ERAS {
        let user = User::who(&[Does::Accept(json!({"choice": ILLINOIS}))]);
        let result = content(
            call(&server.url, era, &user, "retrieve", json!({"query": "Springfield", "source": "places"}))
                .await,
        );
        assert_eq!(user.times_asked(), 1, "{era:?}");
        let question = user.questions.lock().unwrap()[0].clone();
        let options =
            question["requestedSchema"]["properties"]["choice"]["oneOf"].as_array().unwrap().clone();
        assert_eq!(options.len(), 9, "eight and none of these: {question:#}");
        assert_eq!(options[2], json!({"const": ILLINOIS, "title": "Springfield, Illinois, United States"}));
        assert_eq!(references(&result), [ILLINOIS], "{result:#}");
        assert_eq!(
            (result["status"].as_str(), result["confidence"]["level"].as_str()),
            (Some("ok"), Some("high"))
        );
        assert_eq!(result["clarification"]["answer"]["choice"], ILLINOIS);
        assert_eq!(result["alternatives"].as_array().unwrap().len(), 7);
        let data = &result["hits"][0]["data"];
        assert_eq!(data["coordinates"], json!({"latitude": 39.80172, "longitude": -89.64371}));
        assert_eq!(
            (data["country_code"].as_str(), data["admin"][0].as_str()),
            (Some("US"), Some("Illinois"))
        );
        // The choice goes on: reading on is from the same place.
        let refined = content(call(&server.url, era, &user, "refine", json!({"reference": ILLINOIS})).await);
        assert_eq!(references(&refined), [ILLINOIS]);
        let text = refined["passages"][0]["text"].as_str().unwrap();
        assert!(text.contains("Lies in: Illinois › United States.") && text.contains("Nearby: "), "{text}");
    }
}

#[rstest]
#[case::declines(&[Does::Decline], "declined", 1)]
#[case::cancels(&[Does::Cancel], "cancelled", 1)]
#[case::fails(&[Does::Fail], "failed", 1)]
#[case::accepts_nothing(&[Does::Accept(json!({}))], "unusable", 2)]
#[case::wrong_type(&[Does::Accept(json!({"choice": 3}))], "unusable", 2)]
#[case::a_float(&[Does::Accept(json!({"choice": 0.5}))], "unusable", 2)]
#[case::a_list(&[Does::Accept(json!({"choice": [ILLINOIS]}))], "unusable", 2)]
#[case::unknown_id(&[Does::Accept(json!({"choice": "places/1#0"}))], "unusable", 2)]
#[case::position_out_of_range(&[Does::Accept(json!({"choice": "places/4250542#1"}))], "unusable", 2)]
#[case::of_another_source(&[Does::Accept(json!({"choice": "wiki/4250542#0"}))], "unusable", 2)]
#[case::none_of_these(&[Does::Accept(json!({"choice": "none"}))], "unusable", 2)]
#[tokio::test]
async fn without_a_usable_answer_all_are_returned(
    #[case] script: &[Does],
    #[case] outcome: &str,
    #[case] asked: usize,
) {
    let server = server().await;
    for era in ERAS {
        // How a client of the stateless era fails is its own affair: it never calls again.
        if era == Era::Modern && outcome == "failed" {
            continue;
        }
        let user = User::who(script);
        let result = content(
            call(&server.url, era, &user, "retrieve", json!({"query": "Springfield", "source": "places"}))
                .await,
        );
        assert_eq!(result["clarification"]["outcome"], outcome, "{era:?} {result:#}");
        assert_eq!(user.times_asked(), asked, "{era:?}");
        assert_eq!(references(&result), all());
        assert_eq!(
            (result["status"].as_str(), result["confidence"]["reasons"][0].as_str()),
            (Some("ambiguous"), Some("ambiguous"))
        );
    }
}

#[tokio::test]
async fn whoever_cannot_be_asked_gets_all_and_can_choose_by_argument() {
    let server = server().await;
    for era in ERAS {
        let user = User::unreachable();
        let arguments = json!({"query": "Springfield", "source": "places"});
        let result = content(call(&server.url, era, &user, "retrieve", arguments.clone()).await);
        assert_eq!(result["clarification"]["outcome"], "unsupported");
        assert_eq!(references(&result), all());
        assert_eq!(result["alternatives"].as_array().unwrap().len(), 8);
        let chosen = json!({"query": "Springfield", "source": "places", "choice": ILLINOIS});
        let result = content(call(&server.url, era, &user, "retrieve", chosen).await);
        assert_eq!((references(&result), result["status"].as_str()), (vec![ILLINOIS], Some("ok")));
        let fewer = json!({"query": "Springfield", "source": "places", "top_k": 3});
        let result = content(call(&server.url, era, &user, "retrieve", fewer).await);
        assert_eq!(references(&result), all()[..3]);
    }
}

#[tokio::test]
async fn words_say_which_one_is_meant() {
    let server = server().await;
    for era in ERAS {
        let user =
            User::who(&[Does::Accept(json!({"choice": "none", "clarification": "the one in Illinois"}))]);
        let result = content(
            call(&server.url, era, &user, "retrieve", json!({"query": "Springfield", "source": "places"}))
                .await,
        );
        assert_eq!((result["clarification"]["outcome"].as_str(), user.times_asked()), (Some("answered"), 1));
        assert_eq!(
            (references(&result), result["status"].as_str()),
            (vec![ILLINOIS], Some("ok")),
            "{result:#}"
        );
    }
}

#[rstest]
#[case::one_of_the_name("Reykjavik", "places/3413829#0")]
#[case::qualified("Springfield, Illinois", ILLINOIS)]
#[case::a_point("39.8, -89.64", ILLINOIS)]
#[case::a_slip("Reykjavk", "places/3413829#0")]
#[tokio::test]
async fn what_is_plain_is_not_asked(#[case] query: &str, #[case] first: &str) {
    let server = server().await;
    for era in ERAS {
        let user = User::who(&[Does::Decline]);
        let result = content(
            call(&server.url, era, &user, "retrieve", json!({"query": query, "source": "places"})).await,
        );
        assert_eq!(
            (user.times_asked(), result["clarification"]["outcome"].as_str()),
            (0, Some("not_needed"))
        );
        assert_eq!((references(&result)[0], result["status"].as_str()), (first, Some("ok")), "{result:#}");
    }
}

#[tokio::test]
async fn more_than_ten_are_listed_and_not_asked_about() {
    let server = server().await;
    for era in ERAS {
        let user = User::who(&[Does::Decline]);
        let result = content(
            call(&server.url, era, &user, "retrieve", json!({"query": "Santa", "source": "places"})).await,
        );
        assert_eq!(
            (user.times_asked(), result["clarification"]["outcome"].as_str()),
            (0, Some("not_needed"))
        );
        assert_eq!(
            (result["status"].as_str(), result["confidence"]["reasons"][0].as_str()),
            (Some("ambiguous"), Some("too_broad"))
        );
        assert!(references(&result).len() > 10, "{result:#}");
    }
}

#[tokio::test]
async fn what_nothing_is_called_is_asked_about_in_words_and_then_empty() {
    let server = server().await;
    for era in ERAS {
        let user = User::who(&[Does::Decline]);
        let result = content(
            call(&server.url, era, &user, "retrieve", json!({"query": "Qqqqqqqqqqqq", "source": "places"}))
                .await,
        );
        assert_eq!((user.times_asked(), result["status"].as_str()), (1, Some("empty")), "{result:#}");
    }
}

#[tokio::test]
async fn refine_reads_on_around_and_above() {
    let server = server().await;
    let user = User::unreachable();
    let refine = |strategy: &'static str| {
        let arguments = json!({"reference": ILLINOIS, "strategy": strategy, "window": 2});
        call(&server.url, Era::Modern, &user, "refine", arguments)
    };
    let near = content(refine("adjacent").await);
    assert_eq!(references(&near).len(), 5, "itself and four more");
    let away: Vec<f64> = near["passages"].as_array().unwrap()[1..]
        .iter()
        .map(|passage| passage["data"]["distance_m"].as_f64().unwrap())
        .collect();
    assert!(away.is_sorted() && away[0] > 0.0, "{away:?}");
    let division = content(refine("section").await);
    assert_eq!(division["passages"][1]["title"], "Chicago");
    // A token counts four characters: one of them holds the beginning of the name, and nothing else fits.
    let arguments = json!({"reference": ILLINOIS, "strategy": "adjacent", "max_tokens": 1});
    let cut = content(call(&server.url, Era::Modern, &user, "refine", arguments).await);
    assert_eq!((cut["passages"][0]["text"].as_str(), cut["truncated"].as_bool()), (Some("Spri"), Some(true)));
    assert_eq!(references(&cut), [ILLINOIS]);
    let unsupported = refine("similar").await;
    assert_eq!(crate::harness::code(&unsupported), "strategy_not_supported");
    let gone = call(&server.url, Era::Modern, &user, "refine", json!({"reference": "places/1#0"})).await;
    assert_eq!(crate::harness::code(&gone), "reference_not_found");
}

#[tokio::test]
async fn a_places_source_describes_itself() {
    let server = server().await;
    let user = User::unreachable();
    let list =
        content(call(&server.url, Era::Modern, &user, "list_sources", json!({"family": "places"})).await);
    assert_eq!(list["sources"][0]["slug"], "places");
    assert_eq!(
        (list["sources"][0]["documents"].as_u64(), list["sources"][0]["trust"].as_str()),
        (Some(34_006), Some("curated_automated"))
    );
    let card =
        content(call(&server.url, Era::Modern, &user, "describe_source", json!({"source": "places"})).await);
    assert_eq!(card["refine_strategies"], json!(["document", "section", "adjacent"]), "{card:#}");
    assert_eq!(card["health"]["status"].as_str().or(card["health"].as_str()), Some("healthy"), "{card:#}");
}

#[tokio::test]
async fn a_geocoder_that_is_gone_is_a_failure_of_the_tool_and_no_more() {
    // A port that nobody listens on any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = settings_of(&format!(
        "[[sources]]\nslug = \"places\"\nkind = \"places\"\n\
         [[sources]]\nslug = \"streets\"\nkind = \"places\"\nbackend = \"photon\"\nurl = \"http://{gone}\"\n"
    ))
    .await;
    let server = serve(settings).await;
    for era in ERAS {
        let user = User::who(&[Does::Decline]);
        let failed =
            call(&server.url, era, &user, "retrieve", json!({"query": "Springfield", "source": "streets"}))
                .await;
        assert_eq!(crate::harness::code(&failed), "backend_unavailable");
        // The other source answers, and says who did not.
        let both =
            content(call(&server.url, era, &user, "retrieve", json!({"query": "Reykjavik, Iceland"})).await);
        assert_eq!(
            (references(&both), both["unavailable"][0]["source"].as_str()),
            (vec!["places/3413829#0"], Some("streets"))
        );
    }
}

#[tokio::test]
async fn writing_and_calibrating_are_not_for_places() {
    let settings = settings_of(
        "[[sources]]\nslug = \"places\"\nkind = \"places\"\n[sources.policy.write]\nallowed = true\n",
    )
    .await;
    let server = serve(settings).await;
    let write =
        json!({"source": "places", "mode": "append", "content": "x", "provenance": {"origin": "test"}});
    let refused = call(&server.url, Era::Modern, &User::unreachable(), "write", write).await;
    assert_eq!(crate::harness::code(&refused), "write_not_allowed");
}

#[tokio::test]
async fn a_question_without_an_answer_in_time_gets_all() {
    let mut settings = settings_of("[[sources]]\nslug = \"places\"\nkind = \"places\"\n").await;
    settings.clarify.wait = std::time::Duration::from_millis(300);
    let server = serve(settings).await;
    // In the stateless era nothing waits: a client that never calls again has no result to look at.
    let user = User::who(&[Does::Hang]);
    let arguments = json!({"query": "Springfield", "source": "places"});
    let result = content(call(&server.url, Era::Legacy, &user, "retrieve", arguments).await);
    assert_eq!(
        (result["clarification"]["outcome"].as_str(), references(&result)),
        (Some("timed_out"), all().iter().map(String::as_str).collect())
    );
}

#[tokio::test]
async fn the_other_rows_of_the_table_get_all_too() {
    let server = server().await;
    let mut none_left = settings_of("[[sources]]\nslug = \"places\"\nkind = \"places\"\n").await;
    none_left.clarify.max_rounds = 1;
    let once = serve(none_left).await;
    for era in ERAS {
        for (url, extra, script, outcome) in [
            (&server.url, json!({"clarify": "never"}), Does::Decline, "disabled"),
            (&server.url, json!({"choice": "places/1#0"}), Does::Decline, "stale_choice"),
            (&once.url, json!({}), Does::Accept(json!({})), "unusable"),
        ] {
            let mut arguments = json!({"query": "Springfield", "source": "places"});
            arguments.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            if outcome == "stale_choice" {
                arguments["clarify"] = json!("never");
            }
            let user = User::who(&[script]);
            let result = content(call(url, era, &user, "retrieve", arguments).await);
            assert_eq!(result["clarification"]["outcome"], outcome, "{era:?} {result:#}");
            assert_eq!(references(&result), all(), "{outcome}");
        }
    }
}
