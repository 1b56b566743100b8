//! The courier, before a real receiver.

use std::sync::{Mutex, PoisonError};

use axum::{Router, body::Bytes, extract::State, http::HeaderMap, routing::post};
use serde_json::Value;
use tempfile::TempDir;
use time::macros::datetime;
use tokio::net::TcpListener;

use super::*;
use crate::store::{
    SqliteState,
    state::{Access, Actor, NewRequest},
};

const NOON: OffsetDateTime = datetime!(2026-12-01 12:00 UTC);

/// A receiver that answers with what it is told to, and keeps what it got.
#[derive(Clone, Default)]
struct Receiver {
    answers: Arc<Mutex<Vec<u16>>>,
    got: Arc<Mutex<Vec<(HeaderMap, String)>>>,
}

impl Receiver {
    /// Answers with each of `answers` in turn, and with the last for good.
    async fn answering(answers: &[u16]) -> (Self, Webhook) {
        let receiver = Self { answers: Arc::new(Mutex::new(answers.to_vec())), got: Arc::default() };
        let take = async |State(receiver): State<Receiver>, headers: HeaderMap, body: Bytes| {
            let body = String::from_utf8(body.to_vec()).unwrap();
            receiver.got.lock().unwrap().push((headers, body));
            let mut answers = receiver.answers.lock().unwrap();
            let answer = if answers.len() > 1 { answers.remove(0) } else { answers[0] };
            (StatusCode::from_u16(answer).unwrap(), [("location", "/elsewhere")])
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap()).parse().unwrap();
        let app = Router::new().route("/{*any}", post(take)).with_state(receiver.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        (receiver, Webhook { url, secret: vec![7; 32] })
    }

    fn got(&self) -> Vec<(HeaderMap, String)> {
        self.got.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A store in which somebody has asked for access.
fn asked() -> (TempDir, Arc<SqliteState>) {
    let folder = tempfile::tempdir().unwrap();
    let state = Arc::new(SqliteState::new(folder.path()));
    let request = NewRequest {
        caller: Actor { subject: "ada".to_owned(), kind: "agent".to_owned() },
        source: "wiki".to_owned(),
        access: Access::Read,
        reason: "the report".to_owned(),
        days: Some(7),
        request_id: "r1".to_owned(),
        notify: true,
    };
    state.request(&request, NOON).unwrap();
    (folder, state)
}

fn after(seconds: u64) -> OffsetDateTime {
    NOON + Duration::from_secs(seconds)
}

#[tokio::test]
async fn a_message_arrives_once_and_signed() {
    let (_folder, state) = asked();
    let (receiver, webhook) = Receiver::answering(&[204]).await;
    let courier = Courier::new(state, webhook).unwrap();
    assert_eq!(courier.carry(NOON).await.unwrap(), 1);
    assert_eq!(courier.carry(after(4_000_000)).await.unwrap(), 0);
    let got = receiver.got();
    assert_eq!(got.len(), 1);
    let (headers, body) = &got[0];
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let timestamp: i64 = header("webhook-timestamp").parse().unwrap();
    assert!((OffsetDateTime::now_utc().unix_timestamp() - timestamp).abs() < 60);
    assert_eq!(header("webhook-signature"), signature(&[7; 32], &header("webhook-id"), timestamp, body));
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["type"], "access.requested");
    assert_eq!((&body["data"]["subject"], &body["data"]["source"]), (&"ada".into(), &"wiki".into()));
}

#[tokio::test]
async fn what_does_not_arrive_is_tried_again_later_under_the_same_id() {
    let (folder, state) = asked();
    let (receiver, webhook) = Receiver::answering(&[500, 302, 200]).await;
    let courier = Courier::new(state, webhook.clone()).unwrap();
    assert_eq!(courier.carry(NOON).await.unwrap(), 1);
    assert_eq!(courier.carry(after(9)).await.unwrap(), 0, "ten seconds later");
    assert_eq!(courier.carry(after(10)).await.unwrap(), 1);
    drop(courier);
    // Another process, after a restart, goes on where that one was: twenty seconds later.
    let courier = Courier::new(Arc::new(SqliteState::new(folder.path())), webhook).unwrap();
    assert_eq!(courier.carry(after(29)).await.unwrap(), 0);
    assert_eq!(courier.carry(after(30)).await.unwrap(), 1);
    assert_eq!(courier.carry(after(100_000)).await.unwrap(), 0);
    let ids: Vec<_> = receiver.got().iter().map(|(headers, _)| headers["webhook-id"].clone()).collect();
    assert_eq!(ids.len(), 3, "a redirect is not followed");
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]));
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_left_alone() {
    let (_folder, state) = asked();
    let (receiver, webhook) = Receiver::answering(&[410]).await;
    let courier = Courier::new(state, webhook).unwrap();
    assert_eq!(courier.carry(NOON).await.unwrap(), 1);
    assert_eq!(courier.carry(after(4_000_000)).await.unwrap(), 0);
    assert_eq!(receiver.got().len(), 1);
}

#[tokio::test]
async fn a_message_is_given_up_after_three_days() {
    let (_folder, state) = asked();
    // Nobody listens on port 9 of this machine.
    let webhook = Webhook { url: "http://127.0.0.1:9/hook".parse().unwrap(), secret: vec![7; 32] };
    let courier = Courier::new(state, webhook).unwrap();
    let (mut now, mut tries) = (NOON, 0);
    while courier.carry(now).await.unwrap() == 1 {
        tries += 1;
        now += wait(tries);
    }
    let hours = (now - NOON).whole_hours();
    assert!((71..=74).contains(&hours), "{hours} hours in {tries} attempts");
}

#[test]
fn waits_double_up_to_an_hour() {
    let seconds: Vec<u64> = (1..=11).map(|attempts| wait(attempts).as_secs()).collect();
    assert_eq!(seconds, [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]);
    assert_eq!(wait(u32::MAX), LONGEST_WAIT);
}
