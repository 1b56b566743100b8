//! What the state store promises, tried on real files.

use std::sync::Arc;

use serde_json::json;
use tempfile::TempDir;
use time::{Duration, OffsetDateTime, macros::datetime};

use super::*;
use crate::{
    access::audit::{Verification, verify},
    store::state::{Access, Entry, NewGrant, Receipt, RequestStatus, WriteResult},
};

const NOON: OffsetDateTime = datetime!(2026-12-01 12:00 UTC);

fn store() -> (TempDir, SqliteState) {
    let folder = tempfile::tempdir().unwrap();
    let state = SqliteState::new(folder.path());
    (folder, state)
}

fn actor(subject: &str) -> Actor {
    Actor { subject: subject.to_owned(), kind: "agent".to_owned() }
}

fn write(entry: Entry, content: &str, key: Option<&str>) -> Contribution {
    Contribution {
        source: "wiki".to_owned(),
        writer: actor("ada"),
        request_id: "r1".to_owned(),
        entry,
        title: None,
        content: content.to_owned(),
        origin: "a talk".to_owned(),
        note: None,
        idempotency_key: key.map(str::to_owned),
    }
}

fn upsert(key: &str, content: &str) -> Contribution {
    write(Entry::Upsert { key: key.to_owned() }, content, None)
}

fn recorded(contributed: Contributed) -> Receipt {
    match contributed {
        Contributed::Recorded(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_append_is_a_new_item_each_time() {
    let (_folder, state) = store();
    assert_eq!(state.latest("wiki").unwrap(), 0);
    let first = recorded(state.contribute(&write(Entry::Append, "one", None), NOON).unwrap());
    let second = recorded(state.contribute(&write(Entry::Append, "one", None), NOON).unwrap());
    assert_eq!((first.document.as_str(), first.result, first.revision), ("~item/1", WriteResult::Created, 1));
    assert_eq!(second.document, "~item/2");
    assert_eq!(first.recorded_at, "2026-12-01T12:00:00Z");
    let ids = |after| state.items("wiki", after).unwrap().into_iter().map(|item| item.id).collect::<Vec<_>>();
    assert_eq!(ids(0), ["~item/1", "~item/2"]);
    assert_eq!(ids(first.change), ["~item/2"]);
    assert_eq!(state.latest("wiki").unwrap(), second.change);
    assert_eq!((state.latest("other").unwrap(), state.items("other", 0).unwrap()), (0, vec![]));
}

#[test]
fn an_upsert_counts_revisions_and_keeps_them() {
    let (_folder, state) = store();
    let one = recorded(state.contribute(&upsert("k", "one"), NOON).unwrap());
    let two = recorded(state.contribute(&upsert("k", "two"), NOON).unwrap());
    let same = recorded(state.contribute(&upsert("k", "two"), NOON).unwrap());
    assert_eq!(
        [(one.result, one.revision), (two.result, two.revision), (same.result, same.revision)],
        [(WriteResult::Created, 1), (WriteResult::Updated, 2), (WriteResult::Unchanged, 2)]
    );
    let history = state.history("wiki", "~key/k").unwrap();
    let kept: Vec<_> = history.iter().map(|item| (item.revision, item.content.as_str())).collect();
    assert_eq!(kept, [(1, "one"), (2, "two")]);
    let current = state.items("wiki", 0).unwrap();
    assert_eq!((current.len(), current[0].content.as_str()), (1, "two"));
    // A change of title is a change.
    let titled = Contribution { title: Some("T".to_owned()), ..upsert("k", "two") };
    assert_eq!(recorded(state.contribute(&titled, NOON).unwrap()).revision, 3);
}

#[test]
fn notes_are_counted_by_passage() {
    let (_folder, state) = store();
    let note = |position, content: &str| {
        let entry =
            Entry::Annotate { document: "a.md".to_owned(), position, content_sha256: "00".repeat(32) };
        recorded(state.contribute(&write(entry, content, None), NOON).unwrap())
    };
    let revisions = [note(0, "x").revision, note(0, "x").revision, note(1, "x").revision];
    assert_eq!(revisions, [1, 2, 1]);
    assert_eq!(state.notes("wiki", 0).unwrap().len(), 3);
    assert_eq!(state.items("wiki", 0).unwrap(), []);
}

#[test]
fn the_same_key_is_the_same_write() {
    let (_folder, state) = store();
    let first = write(Entry::Append, "one", Some("k1"));
    let receipt = recorded(state.contribute(&first, NOON).unwrap());
    let later = NOON + Duration::hours(1);
    let again = Contribution { request_id: "r2".to_owned(), ..first.clone() };
    assert_eq!(state.contribute(&again, later).unwrap(), Contributed::Replayed(receipt.clone()));
    assert_eq!(state.repeated(&again).unwrap(), Some(Contributed::Replayed(receipt)));
    for other in [
        Contribution { content: "two".to_owned(), ..first.clone() },
        Contribution { title: Some("t".to_owned()), ..first.clone() },
        Contribution { origin: "hearsay".to_owned(), ..first.clone() },
        Contribution { entry: Entry::Upsert { key: "k".to_owned() }, ..first.clone() },
    ] {
        assert_eq!(state.contribute(&other, later).unwrap(), Contributed::Conflict);
    }
    // Keys are a caller's own, and a source's own.
    for own in [
        Contribution { writer: actor("bob"), ..first.clone() },
        Contribution { source: "news".to_owned(), ..first },
    ] {
        recorded(state.contribute(&own, later).unwrap());
    }
    assert_eq!(state.items("wiki", 0).unwrap().len(), 2);
    // One record for each of the three, none for replays and conflicts.
    assert_eq!(state.audit_head().unwrap().number, 3);
}

#[test]
fn upserts_of_one_key_come_one_after_the_other_whoever_makes_them() {
    let (folder, state) = store();
    state.latest("wiki").unwrap();
    // Two stores on one file, as two processes have them, and four threads on each.
    let stores = [Arc::new(state), Arc::new(SqliteState::new(folder.path()))];
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let state = Arc::clone(&stores[writer % 2]);
            std::thread::spawn(move || {
                (0..10)
                    .map(|n| {
                        recorded(state.contribute(&upsert("k", &format!("{writer}-{n}")), NOON).unwrap())
                    })
                    .map(|receipt| receipt.revision)
                    .collect::<Vec<_>>()
            })
        })
        .collect();
    let mut revisions: Vec<u64> = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    revisions.sort_unstable();
    assert_eq!(revisions, (1..=80).collect::<Vec<_>>());
    let kept: Vec<u64> =
        stores[0].history("wiki", "~key/k").unwrap().iter().map(|item| item.revision).collect();
    assert_eq!(kept, revisions);
    let head = stores[1].audit_head().unwrap();
    assert_eq!(head.number, 80);
    assert_eq!(verify(stores[0].as_ref(), None).unwrap(), Verification::Intact { head });
}

fn ask(subject: &str, access: Access) -> NewRequest {
    NewRequest {
        caller: actor(subject),
        source: "wiki".to_owned(),
        access,
        reason: "the quarterly report".to_owned(),
        days: Some(7),
        request_id: "r1".to_owned(),
        notify: true,
    }
}

fn operator() -> Actor {
    Actor { subject: "root".to_owned(), kind: "operator".to_owned() }
}

#[test]
fn asking_twice_is_asking_once_until_it_is_decided() {
    let (folder, state) = store();
    let first = state.request(&ask("ada", Access::Read), NOON).unwrap();
    assert!(first.new && first.before.is_none());
    let again = state.request(&ask("ada", Access::Read), NOON).unwrap();
    assert_eq!((again.new, again.request.id), (false, first.request.id));
    // For something else, or by somebody else, it is another one.
    assert!(state.request(&ask("ada", Access::Write), NOON).unwrap().new);
    assert!(state.request(&ask("bob", Access::Read), NOON).unwrap().new);
    assert_eq!(state.requests(false).unwrap().len(), 3);

    let other_process = SqliteState::new(folder.path());
    let why = "not for agents".to_owned();
    let denied =
        other_process.decide(first.request.id, &Decision::Deny { why: why.clone() }, &operator(), NOON);
    let denied = denied.unwrap().unwrap();
    assert_eq!((denied.status, denied.why.as_deref()), (RequestStatus::Denied, Some("not for agents")));
    assert_eq!(denied.decided_by.as_deref(), Some("root"));
    assert_eq!(state.requests(false).unwrap().len(), 2);
    assert_eq!(state.requests(true).unwrap().len(), 3);
    // The decision stands, whoever comes later.
    let late = state.decide(first.request.id, &Decision::Approve { days: None }, &operator(), NOON);
    assert_eq!(late.unwrap().unwrap().status, RequestStatus::Denied);
    assert_eq!(state.grants("ada", NOON).unwrap(), []);
    let third = state.request(&ask("ada", Access::Read), NOON).unwrap();
    assert!(third.new);
    assert_eq!(third.before.unwrap().why, Some(why));
    assert_eq!(state.decide(999, &Decision::Approve { days: None }, &operator(), NOON).unwrap(), None);
}

#[test]
fn a_grant_lapses_by_itself_and_is_seen_by_every_process() {
    let (folder, state) = store();
    let request = state.request(&ask("ada", Access::Read), NOON).unwrap().request;
    let other = SqliteState::new(folder.path());
    assert_eq!(other.grants("ada", NOON).unwrap(), []);
    let approved = state.decide(request.id, &Decision::Approve { days: Some(30) }, &operator(), NOON);
    assert_eq!(approved.unwrap().unwrap().status, RequestStatus::Approved);
    let day = |days| NOON + Duration::days(days);
    let grants = other.grants("ada", day(29)).unwrap();
    assert_eq!((grants.len(), grants[0].access, grants[0].request), (1, Access::Read, Some(request.id)));
    assert_eq!(grants[0].expires_at.as_deref(), Some("2026-12-31T12:00:00Z"));
    assert_eq!(other.grants("ada", day(30)).unwrap(), []);
    assert_eq!(other.grants("bob", NOON).unwrap(), []);
    // Without days of the owner's own, as long as was asked for.
    let request = state.request(&ask("bob", Access::Write), NOON).unwrap().request;
    state.decide(request.id, &Decision::Approve { days: None }, &operator(), NOON).unwrap();
    assert_eq!(other.grants("bob", day(6)).unwrap().len(), 1);
    assert_eq!(other.grants("bob", day(7)).unwrap(), []);
}

#[test]
fn a_grant_can_be_given_and_taken_back_without_a_request() {
    let (_folder, state) = store();
    let grant = NewGrant {
        subject: "ada".to_owned(),
        source: "wiki".to_owned(),
        access: Access::Write,
        days: None,
        by: operator(),
    };
    let id = state.grant(&grant, NOON).unwrap();
    let far = NOON + Duration::days(10_000);
    assert_eq!(state.grants("ada", far).unwrap().len(), 1);
    assert_eq!(state.all_grants(far).unwrap()[0].id, id);
    assert!(state.revoke(id, &operator(), NOON).unwrap());
    assert!(!state.revoke(id, &operator(), NOON).unwrap(), "it is over already");
    assert_eq!(state.grants("ada", NOON).unwrap(), []);
    let events: Vec<String> = state.audit(0, 10).unwrap().into_iter().map(|record| record.event).collect();
    assert_eq!(events, ["access.granted", "access.revoked"]);
}

/// A store with five audit records, and a way to tamper with its file.
fn audited() -> (TempDir, SqliteState, Connection) {
    let (folder, state) = store();
    for n in 0..5 {
        state.contribute(&upsert("k", &format!("text {n}")), NOON).unwrap();
    }
    let raw = connect(folder.path()).unwrap();
    // By mistake nobody can; somebody who wants to takes the triggers away.
    assert!(raw.execute("UPDATE audit SET caller = 'eve'", []).is_err());
    assert!(raw.execute("DELETE FROM audit", []).is_err());
    raw.execute_batch("DROP TRIGGER audit_is_not_changed; DROP TRIGGER audit_is_not_removed").unwrap();
    (folder, state, raw)
}

fn broken_at(state: &SqliteState, known: Option<&AuditHead>) -> Option<u64> {
    match verify(state, known).unwrap() {
        Verification::Intact { .. } => None,
        Verification::Broken { number, .. } => Some(number),
    }
}

#[test]
fn the_audit_record_shows_what_was_done_to_it() {
    let (_folder, state, _raw) = audited();
    assert_eq!(broken_at(&state, None), None);
    for (tampering, at) in [
        ("UPDATE audit SET caller = 'eve' WHERE number = 3", 3),
        ("UPDATE audit SET at = '2020-01-01T00:00:00Z' WHERE number = 1", 1),
        ("UPDATE audit SET details = '{}' WHERE number = 5", 5),
        ("DELETE FROM audit WHERE number = 2", 2),
        ("DELETE FROM audit WHERE number = 1", 1),
        ("DELETE FROM audit WHERE number = 5", 5),
        ("DELETE FROM audit", 1),
        ("UPDATE audit SET number = 10 - number WHERE number IN (4, 5)", 4),
        ("UPDATE audit_head SET hash = 'ff'", 5),
    ] {
        let (_folder, state, raw) = audited();
        raw.execute_batch(tampering).unwrap();
        assert_eq!(broken_at(&state, None), Some(at), "{tampering}");
    }
}

#[test]
fn an_end_noted_elsewhere_shows_a_record_that_was_rewritten_as_a_whole() {
    let (_folder, state, raw) = audited();
    let noted = state.audit_head().unwrap();
    // Cut, with the end beside the records put right: in itself it is a sound record of four.
    let fourth = state.audit(3, 1).unwrap().remove(0);
    raw.execute_batch(&format!(
        "DELETE FROM audit WHERE number = 5; UPDATE audit_head SET number = 4, hash = '{}'",
        fourth.hash
    ))
    .unwrap();
    assert_eq!(broken_at(&state, None), None);
    assert_eq!(broken_at(&state, Some(&noted)), Some(5));
    // Continued with something else.
    state.request(&ask("ada", Access::Read), NOON).unwrap();
    assert_eq!(broken_at(&state, None), None);
    assert_eq!(broken_at(&state, Some(&noted)), Some(5));
}

#[test]
fn an_audit_records_hash_can_be_worked_out_by_anybody() {
    let (_folder, state) = store();
    let event = Event {
        name: "access.refused".to_owned(),
        actor: actor("ada"),
        source: "wiki".to_owned(),
        request_id: "r1".to_owned(),
        details: [("code".to_owned(), json!("access_denied"))].into(),
    };
    state.record(&event, NOON).unwrap();
    let record = state.audit(0, 1).unwrap().remove(0);
    let written = format!(
        "{{\"at\":\"2026-12-01T12:00:00Z\",\"caller\":\"ada\",\"details\":{{\"code\":\"access_denied\"}},\
         \"event\":\"access.refused\",\"kind\":\"agent\",\"number\":1,\"previous\":\"{}\",\"request_id\":\"r1\",\
         \"source\":\"wiki\"}}",
        "0".repeat(64)
    );
    use sha2::{Digest, Sha256};
    assert_eq!(record.hash, crate::text::hex(&Sha256::digest(written)));
}

#[test]
fn nothing_written_or_asked_is_in_the_audit_record() {
    let (_folder, state) = store();
    let secret = "the merger is on Tuesday";
    let telling = Contribution {
        title: Some(secret.to_owned()),
        origin: secret.to_owned(),
        note: Some(secret.to_owned()),
        ..write(Entry::Append, secret, None)
    };
    state.contribute(&telling, NOON).unwrap();
    state.request(&NewRequest { reason: secret.to_owned(), ..ask("ada", Access::Read) }, NOON).unwrap();
    let records = serde_json::to_string(&state.audit(0, 10).unwrap()).unwrap();
    assert!(!records.contains("merger"), "{records}");
}

#[test]
fn a_message_is_taken_by_one_until_it_gives_it_back() {
    let (folder, state) = store();
    let request = state.request(&ask("ada", Access::Read), NOON).unwrap().request;
    let other = SqliteState::new(folder.path());
    let second = |seconds| NOON + Duration::seconds(seconds);
    let taken = state.take_due(10, NOON, second(60)).unwrap();
    assert_eq!((taken.len(), taken[0].attempts), (1, 0));
    let body: serde_json::Value = serde_json::from_str(&taken[0].body).unwrap();
    assert_eq!((&body["type"], &body["data"]["id"]), (&json!("access.requested"), &json!(request.id)));
    assert_eq!(other.take_due(10, second(59), second(120)).unwrap(), [], "it is being delivered");
    // Whoever took it died: it is due again when the time is over.
    let again = other.take_due(10, second(60), second(120)).unwrap();
    assert_eq!((again.len(), again[0].attempts), (1, 1));
    assert_eq!(again[0].message_id, taken[0].message_id);
    other.postpone(again[0].id, "500", Some(second(200))).unwrap();
    assert_eq!(state.take_due(10, second(199), second(300)).unwrap(), []);
    let third = state.take_due(10, second(200), second(300)).unwrap();
    state.delivered(third[0].id, second(201)).unwrap();
    assert_eq!(other.take_due(10, NOON + Duration::days(9), NOON + Duration::days(10)).unwrap(), []);
    // Asking again while it is pending tells nobody twice; a given-up message stays given up.
    state.request(&ask("ada", Access::Read), NOON).unwrap();
    state.request(&ask("bob", Access::Read), NOON).unwrap();
    let taken = state.take_due(10, NOON, second(60)).unwrap();
    assert_eq!(taken.len(), 1);
    state.postpone(taken[0].id, "410", None).unwrap();
    assert_eq!(state.take_due(10, NOON + Duration::days(9), NOON + Duration::days(10)).unwrap(), []);
}
