//! Bearer tokens over the wire: who gets in, as whom, and what those are told who do not.

use std::collections::BTreeSet;

use askback::{
    access::{Caller, Scope, Visibility},
    config::Auth,
    identity::{
        JwtOptions, KnownToken,
        jwt::{ACCEPTABLE, ClaimNames, Timing},
        tokens,
    },
};
use reqwest::{Client, Method, Response, StatusCode, header::HeaderMap};
use rstest::rstest;
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime};

use crate::{
    harness::{CLEAR, Era, FOREIGN, Raw, Server, User, call_as, code, content, serve, settings},
    issuer::{AUDIENCE, ISSUER, Issuer, Pair, claims, claims_with},
    state::WORDS,
};

fn known(token: &str, subject: &str, groups: &[&str], scopes: &[Scope]) -> KnownToken {
    let caller = Caller {
        subject: subject.to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        scopes: scopes.iter().copied().collect(),
        ..Caller::anonymous()
    };
    KnownToken { sha256: tokens::digest(token), caller, expires_at: None }
}

/// A server with a token for alice (staff, everything), bob (nobody, reads), and one that has expired.
pub async fn with_tokens() -> Server {
    let mut settings = settings().await;
    let expired = Some(OffsetDateTime::now_utc() - Duration::seconds(1));
    settings.auth = Auth::Tokens(vec![
        known("alice-token", "alice", &["staff"], &Scope::ALL),
        known("bob-token", "bob", &[], &[Scope::List, Scope::Read]),
        known("mute-token", "mute", &[], &[]),
        KnownToken { expires_at: expired, ..known("old-token", "alice", &[], &Scope::ALL) },
    ]);
    serve(settings).await
}

/// A server that takes tokens of `issuer`, and shows the wiki to staff only.
async fn with_issuer(issuer: &Issuer) -> Server {
    let mut settings = settings().await;
    settings.auth = Auth::Jwt(Box::new(JwtOptions {
        issuer: ISSUER.to_owned(),
        audiences: vec![AUDIENCE.to_owned()],
        jwks_url: issuer.jwks_url.parse().unwrap(),
        resource: AUDIENCE.parse().unwrap(),
        algorithms: ACCEPTABLE.to_vec(),
        claims: ClaimNames::default(),
        timing: Timing::default(),
    }));
    let policy = &mut settings.sources[0].policy;
    policy.visibility = Visibility::Restricted;
    policy.allowed_groups = BTreeSet::from(["staff".to_owned()]);
    serve(settings).await
}

async fn usual_issuer() -> Issuer {
    Issuer::publishing(vec![Pair::Rsa.public("rsa"), Pair::Ec.public("ec")]).await
}

/// A `tools/call` as it goes over the wire; the whole answer.
async fn send(url: &str, tool: &str, authorization: Option<&str>) -> Response {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let arguments = match tool {
        "list_sources" => json!({}),
        "write" => {
            json!({"source": "wiki", "mode": "append", "content": "x", "provenance": {"origin": "test"}})
        }
        _ => json!({"query": CLEAR, "source": "wiki"}),
    };
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": meta}});
    let mut request = Client::new()
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(body.to_string());
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    request.send().await.unwrap()
}

async fn refused(response: Response) -> (StatusCode, HeaderMap, Value) {
    let (status, headers) = (response.status(), response.headers().clone());
    let body: Value = response.json().await.unwrap();
    assert!(body["message"].as_str().is_some_and(|message| !message.is_empty()), "{body}");
    (status, headers, body)
}

fn challenge(headers: &HeaderMap) -> &str {
    headers["www-authenticate"].to_str().unwrap()
}

#[rstest]
#[tokio::test]
async fn a_token_gets_in_and_its_lack_does_not(#[values(Era::Modern, Era::Legacy)] era: Era) {
    let server = with_tokens().await;
    let arguments = json!({"query": CLEAR, "source": "wiki"});
    let user = User::unreachable();
    let found = content(call_as(&server.url, era, &user, Some("alice-token"), "retrieve", arguments).await);
    assert_eq!(found["status"], "ok");
}

#[tokio::test]
async fn whoever_has_no_token_is_told_how_to_come_back() {
    let server = with_tokens().await;
    for (authorization, code, error) in [
        (None, "auth_invalid", false),
        (Some("Basic YWxpY2U6eA=="), "auth_invalid", false),
        (Some("Bearer wrong-token"), "auth_invalid", true),
        (Some("Bearer alice-token2"), "auth_invalid", true),
        // HTTP takes the blank away, so there is no token.
        (Some("Bearer "), "auth_invalid", false),
        (Some("Bearer old-token"), "auth_expired", true),
    ] {
        let (status, headers, body) = refused(send(&server.url, "retrieve", authorization).await).await;
        assert_eq!((status.as_u16(), body["code"].as_str()), (401, Some(code)), "{authorization:?}");
        let challenge = challenge(&headers);
        assert!(challenge.starts_with("Bearer "), "{challenge}");
        assert!(challenge.contains("scope=\"sources.list sources.read\""), "{challenge}");
        // RFC 6750, section 3.1: no error code for a request without credentials.
        assert_eq!(challenge.contains("error=\"invalid_token\""), error, "{challenge}");
        assert!(!challenge.contains("resource_metadata"), "there is no issuer to find");
        assert!(!body.to_string().contains("wrong-token"), "what was sent is not repeated");
    }
    let in_address = format!("{}?access_token=alice-token", server.url);
    assert_eq!(send(&in_address, "retrieve", None).await.status(), 401);
    assert_eq!(send(&server.url, "retrieve", Some("bEARER alice-token")).await.status(), 200);
}

#[tokio::test]
async fn probes_and_preflights_need_no_token() {
    let server = with_tokens().await;
    let base = server.url.trim_end_matches("/mcp");
    for (path, status) in [
        ("/livez", 200),
        ("/readyz", 200),
        ("/.well-known/oauth-protected-resource", 404),
        ("/.well-known/oauth-protected-resource/mcp", 404),
    ] {
        assert_eq!(reqwest::get(format!("{base}{path}")).await.unwrap().status(), status, "{path}");
    }
    let preflight = async |origin: &str| {
        let request = Client::new().request(Method::OPTIONS, &server.url).header("origin", origin);
        let request = request
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization, content-type, mcp-protocol-version");
        request.send().await.unwrap()
    };
    let allowed = preflight(base).await;
    assert_eq!(allowed.status(), 200);
    assert_eq!(allowed.headers()["access-control-allow-origin"], base);
    let headers = allowed.headers()["access-control-allow-headers"].to_str().unwrap().to_lowercase();
    for header in
        ["authorization", "content-type", "mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name"]
    {
        assert!(headers.split(',').any(|allowed| allowed.trim() == header), "{header} in {headers}");
    }
    let foreign = preflight("https://evil.example").await;
    assert!(!foreign.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn a_listed_token_without_a_scope_is_told_by_the_tool() {
    let server = with_tokens().await;
    let failure = async |token, tool, arguments| {
        code(&call_as(&server.url, Era::Modern, &User::unreachable(), Some(token), tool, arguments).await)
    };
    let write = json!({"source": "wiki", "mode": "append", "content": "x", "provenance": {"origin": "test"}});
    let query = json!({"query": CLEAR, "source": "wiki"});
    // The wiki takes no writes at all, which is the gate before that of the scope.
    assert_eq!(failure("bob-token", "write", write).await, "write_not_allowed");
    assert_eq!(failure("mute-token", "retrieve", query).await, "access_denied");
    assert_eq!(failure("mute-token", "list_sources", json!({})).await, "access_denied");
}

#[tokio::test]
async fn metadata_leads_to_the_issuer() {
    let issuer = usual_issuer().await;
    let server = with_issuer(&issuer).await;
    let base = server.url.trim_end_matches("/mcp");
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let response = reqwest::get(format!("{base}{path}")).await.unwrap();
        assert_eq!(response.status(), 200);
        let document: Value = response.json().await.unwrap();
        assert_eq!(document["resource"], AUDIENCE);
        assert_eq!(document["authorization_servers"], json!([ISSUER]));
        assert_eq!(document["scopes_supported"], json!(["sources.list", "sources.read", "sources.write"]));
        assert_eq!(document["bearer_methods_supported"], json!(["header"]));
    }
    let (status, headers, _) = refused(send(&server.url, "retrieve", None).await).await;
    assert_eq!(status, 401);
    let metadata =
        "resource_metadata=\"https://askback.example.com/.well-known/oauth-protected-resource/mcp\"";
    assert!(challenge(&headers).contains(metadata), "{}", challenge(&headers));
}

#[tokio::test]
async fn a_token_that_lacks_a_scope_is_sent_back_for_a_better_one() {
    let issuer = usual_issuer().await;
    let server = with_issuer(&issuer).await;
    let reads = Pair::Rsa.sign(Some("rsa"), &claims_with(json!({"scope": "sources.read"})));
    let bearer = format!("Bearer {reads}");
    assert_eq!(send(&server.url, "retrieve", Some(&bearer)).await.status(), 200);
    let (status, headers, body) = refused(send(&server.url, "write", Some(&bearer)).await).await;
    assert_eq!((status.as_u16(), body["code"].as_str()), (403, Some("access_denied")));
    let challenge = challenge(&headers);
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("scope=\"sources.read sources.write\""), "with what it has: {challenge}");
    assert_eq!(send(&server.url, "list_sources", Some(&bearer)).await.status(), 403);
}

#[rstest]
#[tokio::test]
async fn groups_in_the_token_open_a_source(#[values(Era::Modern, Era::Legacy)] era: Era) {
    let issuer = usual_issuer().await;
    let server = with_issuer(&issuer).await;
    let arguments = json!({"query": CLEAR, "source": "wiki"});
    let user = User::unreachable();
    let as_ = |token: String| {
        let (url, arguments, user) = (server.url.clone(), arguments.clone(), user.clone());
        async move { call_as(&url, era, &user, Some(&token), "retrieve", arguments).await }
    };
    let staff = as_(Pair::Ec.sign(Some("ec"), &claims())).await;
    assert_eq!(content(staff)["status"], "ok");
    let visitor = claims_with(json!({"sub": "vic", "groups": ["visitors"]}));
    assert_eq!(code(&as_(Pair::Ec.sign(Some("ec"), &visitor)).await), "source_not_found");
}

#[tokio::test]
async fn forged_tokens_stay_outside() {
    let issuer = usual_issuer().await;
    let server = with_issuer(&issuer).await;
    let part = |value: Value| {
        use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
        BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
    };
    let unsigned = format!("{}.{}.", part(json!({"alg": "none", "kid": "rsa"})), part(claims()));
    for (token, code) in [
        (unsigned, "auth_invalid"),
        (Pair::OtherRsa.sign(Some("rsa"), &claims()), "auth_invalid"),
        (Pair::Rsa.sign(Some("rsa"), &claims_with(json!({"iss": "https://evil.example/"}))), "auth_invalid"),
        (Pair::Rsa.sign(Some("rsa"), &claims_with(json!({"aud": "https://evil.example/"}))), "auth_invalid"),
        (Pair::Rsa.sign(Some("rsa"), &claims_with(json!({"sub": "anonymous"}))), "auth_invalid"),
        (Pair::Rsa.sign(Some("rsa"), &claims_with(json!({"exp": 1}))), "auth_expired"),
    ] {
        let response = send(&server.url, "retrieve", Some(&format!("Bearer {token}"))).await;
        let (status, headers, body) = refused(response).await;
        assert_eq!((status.as_u16(), body["code"].as_str()), (401, Some(code)), "{token}");
        assert!(challenge(&headers).contains("error=\"invalid_token\""));
    }
}

#[tokio::test]
async fn an_issuer_that_cannot_be_reached_is_said_to_pass() {
    let issuer = usual_issuer().await;
    issuer.set_down(true);
    let server = with_issuer(&issuer).await;
    let bearer = format!("Bearer {}", Pair::Rsa.sign(Some("rsa"), &claims()));
    let (status, headers, body) = refused(send(&server.url, "retrieve", Some(&bearer)).await).await;
    assert_eq!((status.as_u16(), body["code"].as_str()), (503, Some("backend_unavailable")));
    assert_eq!(headers["retry-after"], "10");
}

#[rstest]
#[tokio::test]
async fn a_state_is_of_no_use_to_another_caller(#[values("retrieve", "refine")] tool: &str) {
    let server = with_tokens().await;
    let arguments = match tool {
        "retrieve" => json!({"query": FOREIGN, "source": "wiki"}),
        _ => json!({"reference": "wiki/printer#0", "query": FOREIGN}),
    };
    let first = Raw::call(&server.url, tool, arguments.clone()).by("alice-token").send().await;
    let state = first.1["result"]["requestState"].clone();
    assert!(state.is_string(), "{:#}", first.1);
    let answer = json!({"clarification": {"action": "accept", "content": {"clarification": WORDS}}});
    let second = |token| {
        Raw::call(&server.url, tool, arguments.clone())
            .by(token)
            .with("requestState", state.clone())
            .with("inputResponses", answer.clone())
    };
    let (_, body) = second("bob-token").send().await;
    assert_eq!(body["error"]["code"], -32602, "{body:#}");
    assert_eq!(body["error"]["data"]["reason"], "invalid_request_state", "{body:#}");
    let (_, body) = second("alice-token").send().await;
    assert_eq!(body["result"]["structuredContent"]["clarification"]["outcome"], "answered", "{body:#}");
}
