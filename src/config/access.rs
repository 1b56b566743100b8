//! `[access]`: what callers are shown, and who is told when they ask for more.

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::Url;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;

/// `[access]` as written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct RawAccess {
    /// Which of the sources a caller may know of `list_sources` shows.
    list: Inclusion,
    /// Who is told of requests for access.
    webhook: Option<RawWebhook>,
}

/// Which of the sources a caller may know of are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Inclusion {
    /// Those that do not answer, too.
    All,
    /// Those it can use or ask for.
    #[default]
    Requestable,
    /// Those it can use.
    Accessible,
}

/// `[access.webhook]` as written.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct RawWebhook {
    /// Where messages are posted.
    url: String,
    /// Signs them: `whsec_` and base64 of 24 to 64 bytes.
    secret: String,
}

/// `[access]`, validated.
#[derive(Debug, Clone)]
pub struct AccessSettings {
    /// Which of the sources a caller may know of are listed.
    pub list: Inclusion,
    /// Who is told of requests for access, if anybody.
    pub webhook: Option<Webhook>,
}

/// Where messages go, and what signs them.
#[derive(Clone)]
pub struct Webhook {
    /// Where messages are posted.
    pub url: Url,
    /// The key they are signed with.
    pub secret: Vec<u8>,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The path of a webhook is often a secret in itself.
        write!(f, "Webhook({}, secret)", self.url.host_str().unwrap_or_default())
    }
}

impl RawAccess {
    pub(super) fn validate(self, problems: &mut Vec<Problem>) -> AccessSettings {
        let webhook = self.webhook.and_then(|webhook| webhook.validate(problems));
        AccessSettings { list: self.list, webhook }
    }
}

impl RawWebhook {
    fn validate(self, problems: &mut Vec<Problem>) -> Option<Webhook> {
        let url = Url::parse(&self.url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        if url.is_none() {
            problems.push(Problem::new(
                "access.webhook.url",
                "must be an address that begins with https:// (or http:// inside a trusted network)",
            ));
        }
        let secret = self
            .secret
            .strip_prefix("whsec_")
            .and_then(|secret| BASE64_STANDARD.decode(secret).ok())
            .filter(|secret| (24..=64).contains(&secret.len()));
        if secret.is_none() {
            problems.push(Problem::new(
                "access.webhook.secret",
                "must be whsec_ and base64 of 24 to 64 bytes: `echo whsec_$(openssl rand -base64 32)`",
            ));
        }
        Some(Webhook { url: url?, secret: secret? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validated(url: &str, secret: &str) -> (Option<Webhook>, Vec<String>) {
        let mut problems = Vec::new();
        let webhook = RawWebhook { url: url.to_owned(), secret: secret.to_owned() }.validate(&mut problems);
        (webhook, problems.into_iter().map(|problem| problem.key).collect())
    }

    #[test]
    fn a_webhook_needs_an_address_and_a_strong_secret() {
        let strong = format!("whsec_{}", BASE64_STANDARD.encode([7; 32]));
        let (webhook, problems) = validated("https://example.com/hooks/1", &strong);
        assert_eq!((webhook.unwrap().secret, problems), (vec![7; 32], vec![]));
        let weak = format!("whsec_{}", BASE64_STANDARD.encode([7; 23]));
        for (url, secret, key) in [
            ("ftp://example.com", strong.as_str(), "access.webhook.url"),
            ("", &strong, "access.webhook.url"),
            ("https://example.com", &weak, "access.webhook.secret"),
            ("https://example.com", "hunter2", "access.webhook.secret"),
        ] {
            assert_eq!(validated(url, secret).1, [key]);
        }
    }

    #[test]
    fn a_webhook_shows_neither_its_path_nor_its_secret() {
        let webhook =
            Webhook { url: Url::parse("https://example.com/hooks/xyz").unwrap(), secret: vec![7; 32] };
        assert_eq!(format!("{webhook:?}"), "Webhook(example.com, secret)");
    }
}
