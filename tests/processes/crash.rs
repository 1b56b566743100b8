//! Kill -9 at any moment loses nothing that was acknowledged and duplicates nothing on retry.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use askback::{
    access::audit::{Verification, verify},
    random::Rng,
    store::{SqliteState, state::StateStore},
};
use serde_json::{Value, json};

use crate::deployment::{Deployment, call};

const CLIENTS: usize = 4;

/// Kills in a normal run; a longer one sets `ASKBACK_CRASH_KILLS`.
const KILLS: usize = 20;

/// A write that was acknowledged.
#[derive(Debug, Clone)]
struct Acknowledged {
    arguments: Value,
    receipt: Value,
}

impl Acknowledged {
    fn is(&self, mode: &str) -> bool {
        self.arguments["mode"] == mode
    }

    fn content(&self) -> &str {
        self.arguments["content"].as_str().unwrap()
    }

    fn document(&self) -> String {
        let reference = self.receipt["reference"].as_str().unwrap();
        reference.strip_prefix("notes/").unwrap().rsplit_once('#').unwrap().0.to_owned()
    }

    fn revision(&self) -> u64 {
        self.receipt["revision"].as_u64().unwrap()
    }
}

/// The `n`th write of a client. Its content has a word of its own, so that it can be told from all
/// others and be searched for.
fn write(client: usize, n: usize) -> Value {
    let word = format!("zq{client}x{n}");
    let mut write = json!({
        "source": "notes", "content": format!("Remember {word} when the lights go out."),
        "provenance": {"origin": "a test"}, "idempotency_key": format!("{client}-{n}"),
    });
    match n % 4 {
        0 => write["mode"] = json!("append"),
        // Keys that all clients fight over.
        1 | 2 => {
            write["mode"] = json!("upsert");
            write["key"] = json!(format!("shared {}", n % 3));
        }
        _ => {
            write["mode"] = json!("annotate");
            write["reference"] = json!("notes/printer.md#0");
        }
    }
    write
}

fn word(content: &str) -> &str {
    content.split_whitespace().find(|word| word.starts_with("zq")).unwrap()
}

/// Writes one thing after the other, each until it is acknowledged, until told to stop.
async fn stream(url: String, client: usize, stop: Arc<AtomicBool>) -> Vec<Acknowledged> {
    let http = reqwest::Client::builder().timeout(Duration::from_secs(20)).build().unwrap();
    let mut acknowledged = Vec::new();
    for n in 0.. {
        let arguments = write(client, n);
        let receipt = loop {
            // A server that is being started again takes a moment.
            match call(&http, &url, "write", &arguments).await {
                None => tokio::time::sleep(Duration::from_millis(10)).await,
                Some(result) if result["isError"] == true => panic!("{result:#}"),
                Some(result) => break result["structuredContent"].clone(),
            }
        };
        acknowledged.push(Acknowledged { arguments, receipt });
        if stop.load(Ordering::SeqCst) {
            break;
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_was_acknowledged_is_there_exactly_once() {
    let number = |name| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let kills = number("ASKBACK_CRASH_KILLS").map_or(KILLS, |kills| kills as usize);
    let seed = number("ASKBACK_CRASH_SEED")
        .unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
    println!("{kills} kills, ASKBACK_CRASH_SEED={seed}");
    let mut random = Rng::new(seed);

    let deployment = Deployment::new("[sources.policy.write]\nallowed = true");
    let mut server = deployment.serve().await;
    let stop = Arc::<AtomicBool>::default();
    let streams: Vec<_> = (0..CLIENTS)
        .map(|client| tokio::spawn(stream(deployment.url(), client, Arc::clone(&stop))))
        .collect();
    for _ in 0..kills {
        tokio::time::sleep(Duration::from_millis(20 + random.below(300) as u64)).await;
        server.kill();
        server = deployment.serve().await;
    }
    stop.store(true, Ordering::SeqCst);
    let mut acknowledged = Vec::new();
    for stream in streams {
        acknowledged.extend(stream.await.unwrap());
    }
    println!("{} writes acknowledged", acknowledged.len());
    assert!(acknowledged.len() > kills, "there was something to lose");

    let state = SqliteState::new(&deployment.data());
    check_audit(&state, &acknowledged);
    check_items(&state, &acknowledged);
    check_notes(&state, &acknowledged);
    check_replays(&deployment, &acknowledged).await;
    check_index(&deployment, &state, &acknowledged).await;
    drop(server);
}

/// One record for each write, and an unbroken chain.
fn check_audit(state: &SqliteState, acknowledged: &[Acknowledged]) {
    assert!(matches!(verify(state, None).unwrap(), Verification::Intact { .. }));
    let records = state.audit(0, usize::MAX >> 1).unwrap();
    let writes = records.iter().filter(|record| record.event == "write").count();
    assert_eq!(writes, acknowledged.len());
}

/// Appended items are there once; revisions of keys count up and each has one write's content.
fn check_items(state: &SqliteState, acknowledged: &[Acknowledged]) {
    let mut expected = BTreeMap::<String, BTreeMap<u64, &str>>::new();
    for write in acknowledged.iter().filter(|write| !write.is("annotate")) {
        let earlier = expected.entry(write.document()).or_default().insert(write.revision(), write.content());
        assert_eq!(earlier, None, "two writes were told that they are the same revision");
    }
    for (document, revisions) in &expected {
        let history = state.history("notes", document).unwrap();
        let kept: Vec<(u64, &str)> =
            history.iter().map(|item| (item.revision, item.content.as_str())).collect();
        let told: Vec<(u64, &str)> =
            revisions.iter().map(|(revision, content)| (*revision, *content)).collect();
        assert_eq!(kept, told, "{document}");
        let numbers: Vec<u64> = kept.iter().map(|(revision, _)| *revision).collect();
        assert_eq!(numbers, (1..=kept.len() as u64).collect::<Vec<_>>(), "{document}");
    }
    let stored: BTreeSet<String> = state.items("notes", 0).unwrap().into_iter().map(|item| item.id).collect();
    assert_eq!(stored, expected.into_keys().collect(), "nothing that nobody was told of");
}

fn check_notes(state: &SqliteState, acknowledged: &[Acknowledged]) {
    let mut told: Vec<&str> =
        acknowledged.iter().filter(|write| write.is("annotate")).map(Acknowledged::content).collect();
    let notes = state.notes("notes", 0).unwrap();
    let mut kept: Vec<&str> = notes.iter().map(|note| note.content.as_str()).collect();
    told.sort_unstable();
    kept.sort_unstable();
    assert_eq!(kept, told);
}

/// The same write again is the same receipt.
async fn check_replays(deployment: &Deployment, acknowledged: &[Acknowledged]) {
    let http = reqwest::Client::new();
    for write in acknowledged.iter().step_by(7) {
        let again = call(&http, &deployment.url(), "write", &write.arguments).await.unwrap();
        let again = &again["structuredContent"];
        assert_eq!(again["replayed"], true);
        for field in ["reference", "revision", "recorded_at", "result"] {
            assert_eq!(again[field], write.receipt[field], "{field}");
        }
    }
}

/// What is stored is what is found, and what was replaced is not.
async fn check_index(deployment: &Deployment, state: &SqliteState, acknowledged: &[Acknowledged]) {
    let http = reqwest::Client::new();
    let current: HashMap<String, String> =
        state.items("notes", 0).unwrap().into_iter().map(|item| (item.id, item.content)).collect();
    let found = async |word: &str| -> Vec<String> {
        let query = json!({"query": word, "source": "notes", "clarify": "never", "top_k": 50});
        let result = call(&http, &deployment.url(), "retrieve", &query).await.unwrap();
        let hits = result["structuredContent"]["hits"].as_array().unwrap().clone();
        let fitting = hits.iter().filter(|hit| hit["text"].as_str().unwrap().contains(word));
        fitting.map(|hit| hit["reference"].as_str().unwrap().to_owned()).collect()
    };
    for write in acknowledged.iter().filter(|write| !write.is("annotate")) {
        let word = format!("{} ", word(write.content()));
        let is_current = current[&write.document()] == write.content();
        let references = found(&word).await;
        let expected =
            if is_current { vec![write.receipt["reference"].as_str().unwrap().to_owned()] } else { vec![] };
        assert_eq!(references, expected, "{word}");
    }
    let passage = json!({"reference": "notes/printer.md#0", "clarify": "never"});
    let refined = call(&http, &deployment.url(), "refine", &passage).await.unwrap();
    let refined = &refined["structuredContent"];
    let origin = refined["passages"].as_array().unwrap().iter().find(|passage| passage["is_origin"] == true);
    let shown = origin.unwrap()["notes"].as_array().unwrap().len();
    let annotated = acknowledged.iter().filter(|write| write.is("annotate")).count();
    assert_eq!(shown, annotated.min(10), "the newest ten notes are shown");
}
