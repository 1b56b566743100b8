//! A source of routes, over an engine that is a stub speaking OSRM: ends that several places fit are asked
//! about together, ways that differ after that, and every way not to answer gets everything.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use askback::config::Settings;
use axum::{Json, Router, http::Uri};
use rstest::rstest;
use serde_json::{Value, json};

use crate::harness::{Does, Era, Raw, Server, User, call, code, content, serve, settings_of};

const ERAS: [Era; 2] = [Era::Modern, Era::Legacy];
const PLAIN: &str = "from Reykjavik to Akureyri";
/// Reykjavík and Akureyri, by their geonameids.
const DOCUMENT: &str = "routes/=3413829>=2633274";
const ILLINOIS: &str = "places/4250542#0";
const TEXAS: &str = "places/4717560#0";

struct Stub {
    server: Server,
    /// How many ways the engine knows.
    ways: Arc<AtomicUsize>,
    /// What it was asked.
    asked: Arc<Mutex<Vec<String>>>,
}

/// Way n takes n hours and is n × 100 km long, on road R n.
fn way(n: usize) -> Value {
    let (seconds, metres) = (n as f64 * 3600.0, n as f64 * 100_000.0);
    let step = json!({"name": format!("R {n}"), "duration": seconds, "distance": metres, "maneuver": {"type": "depart"}});
    json!({
        "duration": seconds, "distance": metres, "geometry": format!("line{n}"),
        "legs": [{"duration": seconds, "distance": metres, "steps": [step]}],
    })
}

async fn stub() -> Stub {
    stub_with(|_| {}).await
}

/// The same with settings of one's own.
async fn stub_with(change: impl FnOnce(&mut Settings)) -> Stub {
    let (ways, asked) = (Arc::new(AtomicUsize::new(2)), Arc::new(Mutex::new(Vec::new())));
    let (known, notes) = (Arc::clone(&ways), Arc::clone(&asked));
    let app = Router::new().fallback(move |uri: Uri| {
        notes.lock().unwrap().push(uri.path().to_owned());
        let routes: Vec<Value> = (1..=known.load(Ordering::SeqCst)).map(way).collect();
        let code = if routes.is_empty() { "NoRoute" } else { "Ok" };
        async move { Json(json!({"code": code, "routes": routes})) }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let engine = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let mut settings = settings_of(&sources(&engine)).await;
    change(&mut settings);
    Stub { server: serve(settings).await, ways, asked }
}

fn sources(engine: &str) -> String {
    format!(
        "[[sources]]\nslug = \"places\"\nkind = \"places\"\n\
         [[sources]]\nslug = \"routes\"\nkind = \"routes\"\nengine = \"osrm\"\nurl = \"{engine}\"\n"
    )
}

fn query(text: &str) -> Value {
    json!({"query": text, "source": "routes"})
}

fn references(result: &Value) -> Vec<&str> {
    let found = result["hits"].as_array().or(result["passages"].as_array()).unwrap();
    found.iter().map(|hit| hit["reference"].as_str().unwrap()).collect()
}

fn outcome(result: &Value) -> &str {
    result["clarification"]["outcome"].as_str().unwrap()
}

#[tokio::test]
async fn a_choice_is_that_way_only() {
    let stub = stub().await;
    let second = format!("{DOCUMENT}#1");
    for era in ERAS {
        let user = User::who(&[Does::Accept(json!({"choice": second}))]);
        let result = content(call(&stub.server.url, era, &user, "retrieve", query(PLAIN)).await);
        assert_eq!((user.times_asked(), outcome(&result)), (1, "answered"), "{result:#}");
        assert_eq!((references(&result), result["status"].as_str()), (vec![second.as_str()], Some("ok")));
        let question = user.questions.lock().unwrap()[0].clone();
        let options = &question["requestedSchema"]["properties"]["choice"]["oneOf"];
        // 100 km are 62.1 mi, 200 km are 124.3 mi.
        assert_eq!(options[0]["title"], "1 h 0 min, 100.0 km (62.1 mi), via R 1");
        assert_eq!(options[1], json!({"const": second, "title": "2 h 0 min, 200.0 km (124.3 mi), via R 2"}));
        let data = &result["hits"][0]["data"];
        assert_eq!(
            (data["duration_s"].as_f64(), data["distance_m"].as_f64()),
            (Some(7200.0), Some(200_000.0))
        );
        assert_eq!(data["polyline"], "line2");
    }
    // Longitude comes first in OSRM.
    let asked = stub.asked.lock().unwrap()[0].clone();
    assert!(asked.starts_with("/route/v1/driving/-21.") && asked.contains(";-18."), "{asked}");
}

#[tokio::test]
async fn ends_are_asked_about_together_and_ways_after_that() {
    let stub = stub().await;
    let arguments = query("from Springfield to Paris via Reykjavik");
    let first = Raw::call(&stub.server.url, "retrieve", arguments.clone());
    let (_, body) = first.send().await;
    let asked = body["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["choice_from", "choice_to"], "{body:#}");
    let message = asked["choice_to"]["params"]["message"].as_str().unwrap();
    assert!(message.contains("“Paris”, which is the destination"), "{message}");
    let accept = |choice: &str| json!({"action": "accept", "content": {"choice": choice}});
    let second = Raw::call(&stub.server.url, "retrieve", arguments.clone())
        .with("requestState", body["result"]["requestState"].clone())
        .with("inputResponses", json!({"choice_from": accept(ILLINOIS), "choice_to": accept(TEXAS)}));
    let (_, body) = second.send().await;
    let asked = body["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["choice"], "{body:#}");
    let options = &asked["choice"]["params"]["requestedSchema"]["properties"]["choice"]["oneOf"];
    let way = "routes/=4250542>=3413829>=4717560#0";
    assert_eq!(options[0]["const"], way, "the places that were chosen: {body:#}");
    let third = Raw::call(&stub.server.url, "retrieve", arguments)
        .with("requestState", body["result"]["requestState"].clone())
        .with("inputResponses", json!({"choice": accept(way)}));
    let (_, body) = third.send().await;
    let result = &body["result"]["structuredContent"];
    assert_eq!((outcome(result), references(result)), ("answered", vec![way]), "{body:#}");
    let slots: Vec<_> = result["clarification"]["asked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|asked| asked["slot"].as_str())
        .collect();
    assert_eq!(slots, [Some("from"), Some("to"), None]);
}

#[tokio::test]
async fn over_the_back_channel_the_same_is_asked_one_after_the_other() {
    let stub = stub().await;
    for era in ERAS {
        let script = [ILLINOIS, TEXAS, "routes/=4250542>=4717560#1"]
            .map(|choice| Does::Accept(json!({"choice": choice})));
        let user = User::who(&script);
        let result =
            content(call(&stub.server.url, era, &user, "retrieve", query("from Springfield to Paris")).await);
        assert_eq!((user.times_asked(), outcome(&result)), (3, "answered"), "{era:?} {result:#}");
        assert_eq!(references(&result), ["routes/=4250542>=4717560#1"]);
    }
}

#[tokio::test]
async fn one_end_in_other_words_settles_it() {
    let stub = stub().await;
    stub.ways.store(1, Ordering::SeqCst);
    for era in ERAS {
        let user =
            User::who(&[Does::Accept(json!({"choice": "none", "clarification": "the one in Illinois"}))]);
        let result =
            content(call(&stub.server.url, era, &user, "retrieve", query("Springfield → Reykjavik")).await);
        assert_eq!((user.times_asked(), outcome(&result)), (1, "answered"), "{result:#}");
        assert_eq!(
            (references(&result), result["status"].as_str()),
            (vec!["routes/=4250542>=3413829#0"], Some("ok"))
        );
        // Nothing is called so: asked for words, under the end's own key.
        let user = User::who(&[Does::Accept(json!({"clarification": "Reykjavik"}))]);
        let result =
            content(call(&stub.server.url, era, &user, "retrieve", query("from Qqqqqqqq to Akureyri")).await);
        assert_eq!(
            (user.times_asked(), references(&result)),
            (1, vec![format!("{DOCUMENT}#0").as_str()]),
            "{result:#}"
        );
    }
}

#[rstest]
#[case::declines(&[Does::Decline], "declined", 1)]
#[case::cancels(&[Does::Cancel], "cancelled", 1)]
#[case::accepts_nothing(&[Does::Accept(json!({}))], "unusable", 2)]
#[case::out_of_range(&[Does::Accept(json!({"choice": "routes/=3413829>=2633274#9"}))], "unusable", 2)]
#[case::not_a_number(&[Does::Accept(json!({"choice": "NaN"}))], "unusable", 2)]
#[case::a_number(&[Does::Accept(json!({"choice": 1}))], "unusable", 2)]
#[case::of_another_source(&[Does::Accept(json!({"choice": ILLINOIS}))], "unusable", 2)]
#[tokio::test]
async fn without_a_usable_answer_all_ways_are_returned(
    #[case] script: &[Does],
    #[case] expected: &str,
    #[case] asked: usize,
) {
    let stub = stub().await;
    for era in ERAS {
        let user = User::who(script);
        let result = content(call(&stub.server.url, era, &user, "retrieve", query(PLAIN)).await);
        assert_eq!((outcome(&result), user.times_asked()), (expected, asked), "{era:?} {result:#}");
        assert_eq!(references(&result), [format!("{DOCUMENT}#0"), format!("{DOCUMENT}#1")]);
        assert_eq!(result["status"], "ambiguous");
    }
}

#[rstest]
#[case::nobody(User::unreachable(), "unsupported")]
#[case::declines(User::who(&[Does::Decline]), "declined")]
#[tokio::test]
async fn open_ends_without_an_answer_get_the_likeliest_and_the_others_listed(
    #[case] user: User,
    #[case] expected: &str,
) {
    let stub = stub().await;
    for era in ERAS {
        let result = content(
            call(&stub.server.url, era, &user, "retrieve", query("from Springfield to Reykjavik")).await,
        );
        assert_eq!(
            (outcome(&result), result["status"].as_str()),
            (expected, Some("ambiguous")),
            "{result:#}"
        );
        // The largest Springfield is in Missouri.
        assert_eq!(references(&result), ["routes/=4409896>=3413829#0", "routes/=4409896>=3413829#1"]);
        assert_eq!(result["alternatives"].as_array().unwrap().len(), 8);
    }
    // A place's reference is an end: that is how an agent goes on by itself.
    stub.ways.store(1, Ordering::SeqCst);
    let exact = query(&format!("from {ILLINOIS} to Reykjavik"));
    let result = content(call(&stub.server.url, Era::Modern, &User::unreachable(), "retrieve", exact).await);
    assert_eq!(
        (references(&result), result["status"].as_str()),
        (vec!["routes/=4250542>=3413829#0"], Some("ok"))
    );
}

#[tokio::test]
async fn a_way_that_is_gone_becomes_the_first() {
    let stub = stub().await;
    stub.ways.store(1, Ordering::SeqCst);
    for era in ERAS {
        let mut arguments = query(PLAIN);
        arguments["choice"] = json!(format!("{DOCUMENT}#1"));
        let user = User::unreachable();
        let result = content(call(&stub.server.url, era, &user, "retrieve", arguments).await);
        assert_eq!(
            (references(&result), outcome(&result)),
            (vec![format!("{DOCUMENT}#0").as_str()], "answered")
        );
        let refine = json!({"reference": format!("{DOCUMENT}#1")});
        let refined = content(call(&stub.server.url, era, &user, "refine", refine).await);
        assert_eq!(references(&refined), [format!("{DOCUMENT}#0")]);
        assert!(refined["passages"][0]["text"].as_str().unwrap().contains("1. depart on R 1 (100.0 km"));
    }
}

#[tokio::test]
async fn no_way_is_empty_and_no_engine_is_a_failure() {
    let stub = stub().await;
    stub.ways.store(0, Ordering::SeqCst);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let broken = serve(settings_of(&sources(&format!("http://{gone}"))).await).await;
    for era in ERAS {
        let user = User::unreachable();
        let result = content(call(&stub.server.url, era, &user, "retrieve", query(PLAIN)).await);
        assert_eq!((result["status"].as_str(), references(&result).len()), (Some("empty"), 0), "{result:#}");
        let failed = call(&broken.url, era, &user, "retrieve", query(PLAIN)).await;
        assert_eq!(code(&failed), "backend_unavailable");
    }
    for reference in
        ["routes/x#0", "routes/=1>=2#0", "routes/=3413829#0", "routes/1,2>999,2#0", "routes/+1,2>3,4#0"]
    {
        let failed = call(
            &stub.server.url,
            Era::Modern,
            &User::unreachable(),
            "refine",
            json!({"reference": reference}),
        )
        .await;
        assert_eq!(code(&failed), "reference_not_found", "{reference}");
    }
}

#[tokio::test]
async fn points_need_no_names() {
    let stub = stub().await;
    stub.ways.store(1, Ordering::SeqCst);
    let result = content(
        call(
            &stub.server.url,
            Era::Modern,
            &User::unreachable(),
            "retrieve",
            query("64.1, -21.9 → 65.7, -18.1"),
        )
        .await,
    );
    assert_eq!(references(&result), ["routes/64.10000,-21.90000>65.70000,-18.10000#0"]);
    assert_eq!(stub.asked.lock().unwrap()[0], "/route/v1/driving/-21.900000,64.100000;-18.100000,65.700000");
}

#[tokio::test]
async fn a_restricted_source_of_places_lends_nothing_to_public_routes() {
    let sources = sources("http://127.0.0.1:1").replacen(
        "kind = \"places\"\n",
        "kind = \"places\"\n[sources.policy]\nvisibility = \"restricted\"\nallowed_groups = [\"hr\"]\n",
        1,
    );
    let server = serve(settings_of(&sources).await).await;
    let failed =
        call(&server.url, Era::Modern, &User::unreachable(), "retrieve", query("from Springfield to Paris"))
            .await;
    assert_eq!(code(&failed), "backend_unavailable");
    assert!(!format!("{failed:?}").contains("4250542"), "{failed:?}");
}

#[tokio::test]
async fn the_end_that_was_not_answered_is_asked_about_again_alone() {
    let stub = stub().await;
    let arguments = query("from Springfield to Paris");
    let (_, body) = Raw::call(&stub.server.url, "retrieve", arguments.clone()).send().await;
    let only = json!({"choice_from": {"action": "accept", "content": {"choice": ILLINOIS}}, "choice_via1": 3, "x": {}});
    let second = Raw::call(&stub.server.url, "retrieve", arguments)
        .with("requestState", body["result"]["requestState"].clone())
        .with("inputResponses", only);
    let (_, body) = second.send().await;
    let asked = body["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(asked.keys().collect::<Vec<_>>(), ["choice_to"], "{body:#}");
}

#[tokio::test]
async fn answers_without_a_state_count_as_first_answers() {
    let stub = stub().await;
    let accept = |choice: &str| json!({"action": "accept", "content": {"choice": choice}});
    let call = Raw::call(&stub.server.url, "retrieve", query("from Springfield to Paris"))
        .with("inputResponses", json!({"choice_from": accept(ILLINOIS), "choice_to": accept(TEXAS)}));
    let (_, body) = call.send().await;
    let result = &body["result"]["structuredContent"];
    // A client that loses the state is asked once, so all ways come back.
    assert_eq!(references(result), ["routes/=4250542>=4717560#0", "routes/=4250542>=4717560#1"], "{body:#}");
    // A reference that is no place of the source of places is no answer.
    let call = Raw::call(&stub.server.url, "retrieve", query("from Springfield to Reykjavik"))
        .with("inputResponses", json!({"choice_from": accept("wiki/secret#0")}));
    let (_, body) = call.send().await;
    assert_eq!(references(&body["result"]["structuredContent"])[0], "routes/=4409896>=3413829#0", "{body:#}");
}

#[tokio::test]
async fn a_client_that_fails_or_is_silent_gets_all_ways() {
    let stub = stub().await;
    let user = User::who(&[Does::Fail]);
    let result = content(call(&stub.server.url, Era::Legacy, &user, "retrieve", query(PLAIN)).await);
    assert_eq!((outcome(&result), references(&result).len()), ("failed", 2));
    let stub = stub_with(|settings| settings.clarify.wait = Duration::from_millis(300)).await;
    let user = User::who(&[Does::Hang]);
    let result = content(call(&stub.server.url, Era::Legacy, &user, "retrieve", query(PLAIN)).await);
    assert_eq!((outcome(&result), references(&result).len()), ("timed_out", 2));
}
