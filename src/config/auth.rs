//! `[auth]`: how callers are told apart.

use std::{
    collections::{BTreeSet, HashSet},
    net::SocketAddr,
};

use jsonwebtoken::Algorithm;
use reqwest::Url;
use schemars::JsonSchema;
use serde::Deserialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::Problem;
use crate::{
    access::{Caller, CallerKind, Scope},
    identity::{
        JwtOptions, KnownToken,
        jwt::{ACCEPTABLE, ClaimNames, Timing},
        unfit_subject,
    },
};

/// How callers are told apart, validated.
#[derive(Debug, Clone)]
pub enum Auth {
    /// Not at all.
    None,
    /// By listed tokens.
    Tokens(Vec<KnownToken>),
    /// By tokens of an OAuth issuer.
    Jwt(Box<JwtOptions>),
}

/// `[auth]` as written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct RawAuth {
    /// How callers are told apart.
    mode: AuthMode,
    /// Lets `mode = "none"` listen beyond loopback.
    allow_anonymous: bool,
    /// The tokens of `mode = "tokens"`.
    tokens: Vec<RawToken>,
    /// The issuer of `mode = "jwt"`.
    jwt: Option<RawJwt>,
}

/// How callers are told apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AuthMode {
    /// Not at all: everybody is the same anonymous caller.
    #[default]
    None,
    /// By tokens that are listed here.
    Tokens,
    /// By tokens of an OAuth issuer.
    Jwt,
}

/// One of `[[auth.tokens]]` as written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct RawToken {
    /// SHA-256 of the token, in hexadecimal.
    sha256: String,
    /// Whom it speaks for.
    subject: String,
    /// What kind of caller that is.
    kind: CallerKind,
    /// The groups the caller is in.
    groups: BTreeSet<String>,
    /// What the token is good for; listing and reading if left out.
    scopes: Option<Vec<String>>,
    /// When it ceases to be accepted: an RFC 3339 time.
    expires_at: Option<String>,
}

/// `[auth.jwt]` as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
struct RawJwt {
    /// The very text of the claim `iss`.
    issuer: String,
    /// Where the issuer publishes its keys.
    jwks_url: String,
    /// The address clients reach `/mcp` by.
    resource: String,
    /// What `aud` may be; the resource if left out.
    audiences: Vec<String>,
    /// Signature algorithms that are accepted: RS256, ES256, EdDSA.
    algorithms: Vec<String>,
    /// Which claim says who it is.
    subject_claim: String,
    /// Which claim lists the groups.
    groups_claim: String,
    /// Which claim lists the scopes.
    scopes_claim: String,
    /// Which claim says what kind of caller it is.
    kind_claim: Option<String>,
    /// The kind when no claim says.
    default_kind: CallerKind,
}

impl Default for RawJwt {
    fn default() -> Self {
        let claims = ClaimNames::default();
        Self {
            issuer: String::new(),
            jwks_url: String::new(),
            resource: String::new(),
            audiences: Vec::new(),
            algorithms: ["RS256", "ES256", "EdDSA"].map(str::to_owned).to_vec(),
            subject_claim: claims.subject,
            groups_claim: claims.groups,
            scopes_claim: claims.scopes,
            kind_claim: claims.kind,
            default_kind: claims.default_kind,
        }
    }
}

impl RawAuth {
    pub(super) fn validate(self, address: &SocketAddr, problems: &mut Vec<Problem>) -> Auth {
        let mut problem =
            |key: &str, message: String| problems.push(Problem::new(format!("auth.{key}"), message));
        match self.mode {
            AuthMode::None => {
                if !self.allow_anonymous && !address.ip().is_loopback() {
                    problem(
                        "allow_anonymous",
                        format!(
                            "server.address {address} is reachable from other machines and auth.mode is none; set \
                             auth.mode to tokens or jwt, or auth.allow_anonymous = true if everybody who can reach it \
                             may use every public source"
                        ),
                    );
                }
                // Somebody who lists them believes that they keep others out.
                for (key, there) in [("tokens", !self.tokens.is_empty()), ("jwt", self.jwt.is_some())] {
                    if there {
                        problem(
                            key,
                            format!("does nothing while auth.mode is none; set auth.mode = \"{key}\""),
                        );
                    }
                }
                Auth::None
            }
            AuthMode::Tokens => Auth::Tokens(tokens(self.tokens, &mut problem)),
            AuthMode::Jwt => match self.jwt {
                Some(jwt) => jwt.validate(&mut problem).map_or(Auth::None, |jwt| Auth::Jwt(Box::new(jwt))),
                None => {
                    problem("jwt", "is missing; name issuer, jwks_url and resource".to_owned());
                    Auth::None
                }
            },
        }
    }
}

fn tokens(raw: Vec<RawToken>, problem: &mut impl FnMut(&str, String)) -> Vec<KnownToken> {
    if raw.is_empty() {
        let remedy = "is empty, so nobody could call; `askback access token` makes an entry";
        problem("tokens", remedy.to_owned());
    }
    let mut seen = HashSet::new();
    let mut known = Vec::new();
    for (n, token) in raw.into_iter().enumerate() {
        let mut problem = |key: &str, message: String| problem(&format!("tokens[{n}].{key}"), message);
        let sha256 = unhex(&token.sha256);
        if sha256.is_none() {
            problem(
                "sha256",
                "must be the 64 hexadecimal digits of a token's SHA-256; `askback access token` makes an entry".to_owned(),
            );
        }
        if sha256.is_some_and(|sha256| !seen.insert(sha256)) {
            problem("sha256", "is listed twice; every token speaks for one caller".to_owned());
        }
        if let Some(why) = unfit_subject(&token.subject) {
            problem("subject", format!("will not do: {why}"));
        }
        let scopes = match token.scopes {
            None => BTreeSet::from([Scope::List, Scope::Read]),
            Some(names) => names.iter().filter_map(|name| scope(name, &mut problem)).collect(),
        };
        let expires_at = token.expires_at.and_then(|at| {
            let at = OffsetDateTime::parse(&at, &Rfc3339);
            if at.is_err() {
                problem("expires_at", "must be a time such as 2027-01-31T00:00:00Z".to_owned());
            }
            at.ok()
        });
        let caller = Caller { subject: token.subject, kind: token.kind, groups: token.groups, scopes };
        if let Some(sha256) = sha256 {
            known.push(KnownToken { sha256, caller, expires_at });
        }
    }
    known
}

fn scope(name: &str, problem: &mut impl FnMut(&str, String)) -> Option<Scope> {
    let scope = Scope::named(name);
    if scope.is_none() {
        let all = Scope::ALL.map(Scope::name);
        problem(
            "scopes",
            format!("`{}` is none; there are {}", crate::text::excerpt(name, 64), all.join(", ")),
        );
    }
    scope
}

fn unhex(hex: &str) -> Option<[u8; 32]> {
    if hex.len() != 64 || !hex.is_ascii() {
        return None;
    }
    let mut bytes = [0; 32];
    for (n, byte) in bytes.iter_mut().enumerate() {
        // Not `+f`, which the parser would take.
        let digits =
            hex.get(2 * n..2 * n + 2).filter(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()))?;
        *byte = u8::from_str_radix(digits, 16).ok()?;
    }
    Some(bytes)
}

impl RawJwt {
    fn validate(self, problem: &mut impl FnMut(&str, String)) -> Option<JwtOptions> {
        let mut problem = |key: &str, message: &str| problem(&format!("jwt.{key}"), message.to_owned());
        if self.issuer.trim().is_empty() {
            problem("issuer", "is missing; copy it from the issuer's metadata, letter for letter");
        }
        let jwks_url = address(&self.jwks_url).filter(|url| url.scheme() == "https" || is_local(url));
        if jwks_url.is_none() {
            problem(
                "jwks_url",
                "must be the https:// address of the issuer's keys (jwks_uri in its metadata); http:// only does for \
                 this machine",
            );
        }
        let resource =
            address(&self.resource).filter(|url| url.fragment().is_none() && url.query().is_none());
        if resource.is_none() {
            problem(
                "resource",
                "must be the address that clients reach this server by, such as https://askback.example.com/mcp",
            );
        }
        if self.audiences.iter().any(|audience| audience.trim().is_empty()) {
            problem("audiences", "must not hold an empty text");
        }
        let mut algorithms = Vec::new();
        for name in &self.algorithms {
            match name.parse::<Algorithm>().ok().filter(|algorithm| ACCEPTABLE.contains(algorithm)) {
                Some(algorithm) => algorithms.push(algorithm),
                None => problem("algorithms", "may hold RS256, ES256 and EdDSA"),
            }
        }
        if algorithms.is_empty() {
            problem("algorithms", "is empty, so no token would do; leave it out, or name one");
        }
        let audiences = if self.audiences.is_empty() { vec![self.resource] } else { self.audiences };
        Some(JwtOptions {
            issuer: self.issuer,
            audiences,
            jwks_url: jwks_url?,
            resource: resource?,
            algorithms,
            claims: ClaimNames {
                subject: self.subject_claim,
                groups: self.groups_claim,
                scopes: self.scopes_claim,
                kind: self.kind_claim,
                default_kind: self.default_kind,
            },
            timing: Timing::default(),
        })
    }
}

fn address(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}

fn is_local(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn validated(auth: Value) -> (Auth, Vec<String>) {
        let mut problems = Vec::new();
        let raw: RawAuth = serde_json::from_value(auth).unwrap();
        let auth = raw.validate(&"127.0.0.1:8080".parse().unwrap(), &mut problems);
        (auth, problems.into_iter().map(|problem| problem.key).collect())
    }

    #[test]
    fn a_listed_token_has_a_caller() {
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let (auth, problems) = validated(json!({"mode": "tokens", "tokens": [
            {"sha256": hex, "subject": "ci", "kind": "service", "groups": ["build"],
             "scopes": ["sources.write"], "expires_at": "2027-01-31T00:00:00Z"},
            {"sha256": "00".repeat(32), "subject": "alice"},
        ]}));
        assert_eq!(problems, [""; 0]);
        let Auth::Tokens(tokens) = auth else { panic!("{auth:?}") };
        assert_eq!(tokens[0].sha256, crate::identity::tokens::digest("abc"));
        assert_eq!(tokens[0].caller.kind, CallerKind::Service);
        assert_eq!(tokens[0].caller.scopes, BTreeSet::from([Scope::Write]));
        // 2027-01-31 is day 20,849 after 1970-01-01: 57 years with 14 leap days, and 30 days.
        assert_eq!(tokens[0].expires_at.unwrap().unix_timestamp(), 20_849 * 86_400);
        assert_eq!(tokens[1].caller.scopes, BTreeSet::from([Scope::List, Scope::Read]));
        assert_eq!(tokens[1].expires_at, None);
    }

    #[test]
    fn what_is_wrong_with_a_token_is_named() {
        let token = |changes: Value| {
            let mut token = json!({"sha256": "ab".repeat(32), "subject": "alice"});
            for (key, value) in changes.as_object().unwrap() {
                token[key] = value.clone();
            }
            token
        };
        for (changes, key) in [
            (json!({"sha256": "abc"}), "sha256"),
            (json!({"sha256": "+f".repeat(32)}), "sha256"),
            (json!({"sha256": "é".repeat(32)}), "sha256"),
            (json!({"subject": "anonymous"}), "subject"),
            (json!({"subject": ""}), "subject"),
            (json!({"scopes": ["sources.raed"]}), "scopes"),
            (json!({"expires_at": "tomorrow"}), "expires_at"),
        ] {
            let (_, problems) = validated(json!({"mode": "tokens", "tokens": [token(changes)]}));
            assert_eq!(problems, [format!("auth.tokens[0].{key}")]);
        }
        let twice = [token(json!({})), token(json!({"subject": "bob"}))];
        assert_eq!(validated(json!({"mode": "tokens", "tokens": twice})).1, ["auth.tokens[1].sha256"]);
        assert_eq!(validated(json!({"mode": "tokens"})).1, ["auth.tokens"]);
        // Listed and not used: whoever wrote it believes that others are kept out.
        assert_eq!(validated(json!({"tokens": [token(json!({}))]})).1, ["auth.tokens"]);
    }

    fn jwt(changes: Value) -> (Auth, Vec<String>) {
        let mut jwt = json!({
            "issuer": "https://sso.example.com/", "jwks_url": "https://sso.example.com/keys",
            "resource": "https://askback.example.com/mcp",
        });
        for (key, value) in changes.as_object().unwrap() {
            jwt[key] = value.clone();
        }
        validated(json!({"mode": "jwt", "jwt": jwt}))
    }

    #[test]
    fn an_issuer_needs_no_more_than_three_settings() {
        let (auth, problems) = jwt(json!({}));
        assert_eq!(problems, [""; 0]);
        let Auth::Jwt(options) = auth else { panic!("{auth:?}") };
        assert_eq!(options.audiences, ["https://askback.example.com/mcp"]);
        assert_eq!(options.algorithms, ACCEPTABLE);
        assert_eq!(options.claims, ClaimNames::default());
    }

    #[test]
    fn what_is_wrong_with_an_issuer_is_named() {
        for (changes, key) in [
            (json!({"issuer": ""}), "issuer"),
            (json!({"jwks_url": "http://sso.example.com/keys"}), "jwks_url"),
            (json!({"jwks_url": "keys"}), "jwks_url"),
            (json!({"resource": ""}), "resource"),
            (json!({"resource": "https://askback.example.com/mcp#x"}), "resource"),
            (json!({"audiences": [""]}), "audiences"),
            (json!({"algorithms": []}), "algorithms"),
            (json!({"algorithms": ["ES256", "HS256"]}), "algorithms"),
            (json!({"algorithms": ["ES256", "none"]}), "algorithms"),
        ] {
            assert_eq!(jwt(changes).1, [format!("auth.jwt.{key}")]);
        }
        assert_eq!(jwt(json!({"jwks_url": "http://127.0.0.1:9/keys"})).1, [""; 0]);
        assert_eq!(validated(json!({"mode": "jwt"})).1, ["auth.jwt"]);
    }
}
