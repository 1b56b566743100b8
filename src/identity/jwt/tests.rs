//! Tokens as an attacker, an issuer or a clock could make them.

use std::time::Duration;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{EncodingKey, Header, encode};
use serde_json::{Value, json};

use self::issuer::{AUDIENCE, ISSUER, Issuer, Pair, claims, claims_with, now};
use super::*;
use crate::access::Scope;

#[path = "../../../tests/common/issuer.rs"]
mod issuer;

fn checks(issuer: &Issuer, timing: Timing) -> Jwt {
    Jwt::new(JwtOptions {
        issuer: ISSUER.to_owned(),
        audiences: vec![AUDIENCE.to_owned()],
        jwks_url: issuer.jwks_url.parse().unwrap(),
        resource: AUDIENCE.parse().unwrap(),
        algorithms: ACCEPTABLE.to_vec(),
        claims: ClaimNames::default(),
        timing,
    })
    .unwrap()
}

async fn usual() -> (Issuer, Jwt) {
    let keys = vec![Pair::Rsa.public("rsa"), Pair::Ec.public("ec"), Pair::Ed.public("ed")];
    let issuer = Issuer::publishing(keys).await;
    let jwt = checks(&issuer, Timing::default());
    (issuer, jwt)
}

fn part(value: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
}

const FORM: &str = "it is not a JSON Web Token signed in a way that is accepted";
const SIGNATURE: &str = "its signature does not hold";

#[tokio::test]
async fn every_accepted_algorithm_is_accepted() {
    let (issuer, jwt) = usual().await;
    for (pair, id) in [(Pair::Rsa, "rsa"), (Pair::Ec, "ec"), (Pair::Ed, "ed")] {
        let caller = jwt.caller(&pair.sign(Some(id), &claims())).await.unwrap();
        assert_eq!(caller.subject, "alice");
        assert!(caller.groups.contains("staff") && caller.has(Scope::Write));
    }
    assert_eq!(issuer.fetches(), 1, "the keys are kept");
}

#[tokio::test]
async fn a_token_without_a_signature_is_refused() {
    let (issuer, jwt) = usual().await;
    for alg in ["none", "None", "NONE", ""] {
        for signature in ["", "AAAA"] {
            let header = json!({"alg": alg, "typ": "JWT", "kid": "rsa"});
            let token = format!("{}.{}.{signature}", part(&header), part(&claims()));
            assert_eq!(jwt.caller(&token).await, Err(Denied::Invalid(FORM)), "{alg}");
        }
    }
    assert_eq!(issuer.fetches(), 0, "nor is it a reason to fetch anything");
}

#[tokio::test]
async fn the_public_key_is_no_shared_secret() {
    let (_issuer, jwt) = usual().await;
    let modulus = Pair::Rsa.public("rsa")["n"].as_str().unwrap().to_owned();
    let pem = include_bytes!("../../../tests/common/keys/rsa.pub.pem").to_vec();
    for secret in [pem, BASE64_URL_SAFE_NO_PAD.decode(&modulus).unwrap(), modulus.into_bytes()] {
        for algorithm in [Algorithm::HS256, Algorithm::HS384, Algorithm::HS512] {
            let mut header = Header::new(algorithm);
            header.kid = Some("rsa".to_owned());
            let token = encode(&header, &claims(), &EncodingKey::from_secret(&secret).unwrap()).unwrap();
            assert_eq!(jwt.caller(&token).await, Err(Denied::Invalid(FORM)));
        }
    }
}

#[tokio::test]
async fn the_key_decides_on_the_algorithm() {
    let (_issuer, jwt) = usual().await;
    // Signed soundly, and said to be signed with a key for another algorithm.
    for (pair, id) in [(Pair::Ec, "rsa"), (Pair::Rsa, "ec"), (Pair::Ed, "ec"), (Pair::Rsa, "ed")] {
        let token = pair.sign(Some(id), &claims());
        assert_eq!(jwt.caller(&token).await, Err(Denied::Invalid(SIGNATURE)), "{id}");
    }
    // RS384 with the right key: the key is used with RS256.
    let mut header = Header::new(Algorithm::RS384);
    header.kid = Some("rsa".to_owned());
    let token = encode(&header, &claims(), &Pair::Rsa.private()).unwrap();
    assert_eq!(jwt.caller(&token).await, Err(Denied::Invalid(FORM)));
}

#[tokio::test]
async fn what_the_token_brings_along_is_no_key() {
    let (issuer, jwt) = usual().await;
    let mut header = Header::new(Algorithm::RS256);
    header.jwk = serde_json::from_value(Pair::OtherRsa.public("rsa")).unwrap();
    header.jku = Some("https://attacker.example.com/keys".to_owned());
    for id in [None, Some("rsa"), Some("mine")] {
        header.kid = id.map(str::to_owned);
        let token = encode(&header, &claims(), &Pair::OtherRsa.private()).unwrap();
        assert!(matches!(jwt.caller(&token).await, Err(Denied::Invalid(_))));
    }
    assert!(issuer.fetches() <= 2);
}

#[tokio::test]
async fn a_token_is_for_us_from_our_issuer_and_for_now() {
    let (_issuer, jwt) = usual().await;
    let (other_issuer, other_audience) =
        (Denied::Invalid("it is from another issuer"), Denied::Invalid("it is for another audience"));
    let lacks = Denied::Invalid("it lacks one of the claims exp, iss and aud");
    let early = Denied::Invalid("it is not valid yet");
    for (changes, why) in [
        (json!({"iss": "https://issuer.example.com"}), Some(other_issuer)),
        (json!({"iss": "https://attacker.example.com/"}), Some(other_issuer)),
        (json!({"aud": "https://other.example.com/mcp"}), Some(other_audience)),
        (json!({"aud": ["https://other.example.com", "x"]}), Some(other_audience)),
        (json!({"aud": ["https://other.example.com", AUDIENCE]}), None),
        // 60 seconds for clocks that are apart, with some room for the test itself.
        (json!({"exp": now() - 50}), None),
        (json!({"exp": now() - 70}), Some(Denied::Expired)),
        (json!({"nbf": now() + 50}), None),
        (json!({"nbf": now() + 90}), Some(early)),
        (json!({"nbf": null}), None),
        (json!({"exp": null}), Some(lacks)),
        (json!({"iss": null}), Some(lacks)),
        (json!({"aud": null}), Some(lacks)),
    ] {
        let token = Pair::Rsa.sign(Some("rsa"), &claims_with(changes.clone()));
        assert_eq!(jwt.caller(&token).await.err(), why, "{changes}");
    }
    for changes in [json!({"exp": "never"}), json!({"exp": -1}), json!({"sub": null}), json!({"iss": [1]})] {
        let token = Pair::Rsa.sign(Some("rsa"), &claims_with(changes.clone()));
        assert!(matches!(jwt.caller(&token).await, Err(Denied::Invalid(_))), "{changes}");
    }
}

#[tokio::test]
async fn a_changed_token_does_not_hold() {
    let (_issuer, jwt) = usual().await;
    let token = Pair::Rsa.sign(Some("rsa"), &claims());
    let parts: Vec<&str> = token.split('.').collect();
    let forged = format!("{}.{}.{}", parts[0], part(&claims_with(json!({"sub": "root"}))), parts[2]);
    assert_eq!(jwt.caller(&forged).await, Err(Denied::Invalid(SIGNATURE)));
    for broken in ["", ".", "..", "a.b.c", &token[1..], &token[..token.len() - 8], &format!("{token}.x")] {
        assert!(matches!(jwt.caller(broken).await, Err(Denied::Invalid(_))), "{broken}");
    }
    // An extension that has to be understood (RFC 7515, section 4.1.11).
    let mut header = Header::new(Algorithm::RS256);
    (header.kid, header.crit) = (Some("rsa".to_owned()), Some(vec!["b64".to_owned()]));
    let token = encode(&header, &claims(), &Pair::Rsa.private()).unwrap();
    assert_eq!(jwt.caller(&token).await, Err(Denied::Invalid(FORM)));
}

#[tokio::test]
async fn a_new_key_is_found_and_the_old_one_is_gone() {
    let (issuer, jwt) = usual().await;
    let old = Pair::Rsa.sign(Some("rsa"), &claims());
    assert!(jwt.caller(&old).await.is_ok());
    issuer.rotate(vec![Pair::OtherRsa.public("rsa-2")]);
    assert!(jwt.caller(&old).await.is_ok(), "nobody has looked yet");
    assert!(jwt.caller(&Pair::OtherRsa.sign(Some("rsa-2"), &claims())).await.is_ok());
    assert_eq!(issuer.fetches(), 2);
    assert_eq!(jwt.caller(&old).await, Err(Denied::Invalid("its issuer publishes no such key")));
}

#[tokio::test]
async fn a_flood_of_unknown_keys_is_one_fetch() {
    let (issuer, jwt) = usual().await;
    let flood = (0..50).map(|n| {
        let jwt = &jwt;
        let token = Pair::OtherRsa.sign(Some(&format!("made-up-{n}")), &claims());
        async move { jwt.caller(&token).await }
    });
    let results = futures::future::join_all(flood).await;
    let unknown = Err(Denied::Invalid("its issuer publishes no such key"));
    assert!(results.iter().all(|result| *result == unknown));
    // One to have keys at all, one to see whether there are new ones.
    assert_eq!(issuer.fetches(), 2);
    assert!(jwt.caller(&Pair::Rsa.sign(Some("rsa"), &claims())).await.is_ok(), "others are unharmed");
    assert_eq!(issuer.fetches(), 2);
}

#[tokio::test]
async fn an_issuer_that_is_down_is_not_everybodys_trouble_for_a_while() {
    let span = |ms| Duration::from_millis(ms);
    // Keys are old at once, and an attempt may follow at once.
    let timing = Timing { fresh: span(0), floor: span(0), ..Timing::default() };
    let issuer = Issuer::publishing(vec![Pair::Ec.public("ec")]).await;
    let jwt = checks(&issuer, timing);
    let token = Pair::Ec.sign(None, &claims());
    issuer.set_down(true);
    assert_eq!(jwt.caller(&token).await, Err(Denied::Unavailable));
    issuer.set_down(false);
    assert!(jwt.caller(&token).await.is_ok(), "the only key needs no name");
    issuer.set_down(true);
    assert!(jwt.caller(&token).await.is_ok(), "old keys do");
    let fetched = issuer.fetches();
    assert_eq!(fetched, 3, "each time it was tried");

    let jwt = checks(&issuer, Timing { stale: span(0), ..timing });
    assert_eq!(jwt.caller(&token).await, Err(Denied::Unavailable));
    // And the floor holds for attempts that fail.
    let jwt = checks(&issuer, Timing { fresh: span(0), ..Timing::default() });
    let before = issuer.fetches();
    for _ in 0..5 {
        assert_eq!(jwt.caller(&token).await, Err(Denied::Unavailable));
    }
    assert_eq!(issuer.fetches(), before + 1);
}
