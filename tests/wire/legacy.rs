//! What only the back-channel of older protocols can run into.

use std::time::{Duration, Instant};

use rmcp::model::{CallToolRequestParams, ClientRequest, Request};
use serde_json::json;

use crate::harness::{Does, Era, FOREIGN, User, call, connect, content, serve, settings};

#[tokio::test]
async fn silence_times_out_and_a_failing_client_is_no_error() {
    let mut settings = settings().await;
    settings.clarify.wait = Duration::from_millis(300);
    let server = serve(settings).await;
    for (does, outcome) in [(Does::Hang, "timed_out"), (Does::Fail, "failed")] {
        for (tool, arguments) in [
            ("retrieve", json!({"query": FOREIGN})),
            ("refine", json!({"reference": "wiki/printer#0", "query": FOREIGN})),
        ] {
            let user = User::who(std::slice::from_ref(&does));
            let result = content(call(&server.url, Era::Legacy, &user, tool, arguments).await);
            assert_eq!(result["clarification"]["outcome"], outcome, "{tool}");
            assert_eq!(user.times_asked(), 1);
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_stops_waiting() {
    let server = serve(settings().await).await;
    let user = User::who(&[Does::Hang]);
    let client = connect(&server.url, Era::Legacy, &user).await;
    let mut params = CallToolRequestParams::new("retrieve");
    params.arguments = json!({"query": FOREIGN}).as_object().cloned();
    let request = ClientRequest::CallToolRequest(Request::new(params));
    let handle =
        client.send_cancellable_request(request, rmcp::service::PeerRequestOptions::default()).await.unwrap();
    while user.times_asked() == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let started = Instant::now();
    handle.cancel(Some("changed my mind".into())).await.unwrap();
    // The session goes on: the next call is answered at once, not after the 45 s a question waits.
    let mut params = CallToolRequestParams::new("list_sources");
    params.arguments = Some(Default::default());
    let result = client.call_tool(params).await.unwrap();
    assert_eq!(content(result)["sources"][0]["slug"], "wiki");
    assert!(started.elapsed() < Duration::from_secs(20));
}
