//! What can go wrong with a service, said twice: for the log of whoever runs it, with the address and
//! the remedy, and for callers, who are told no addresses. Neither ever holds a key or a text.

use std::time::Duration;

use super::options::Endpoint;

/// Why a call came to nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Trouble {
    /// No connection, or one that broke.
    Unreachable(String),
    /// No answer in time.
    Slow(Duration),
    /// It does not do what it was asked: asking again will not help.
    Refused {
        status: u16,
        /// What it had to say.
        said: Option<String>,
    },
    /// Too busy or broken just now.
    Failing { status: u16, retry_after: Option<Duration> },
    /// It answered something that cannot be used.
    Unsound(String),
}

impl Trouble {
    /// Whether it may be gone in a moment.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Slow(_) | Self::Failing { .. })
    }

    /// For the log.
    pub(super) fn report(&self, endpoint: &Endpoint) -> String {
        let Endpoint { section, url, .. } = endpoint;
        let what = match self {
            Self::Unreachable(why) => format!(
                "cannot be reached ({why}); is it running, and is {section}.url right? Proxies are taken from \
                 HTTP_PROXY, HTTPS_PROXY and NO_PROXY"
            ),
            Self::Slow(limit) => {
                format!("did not answer within {limit:?}; is it overloaded?")
            }
            Self::Refused { status, said } => {
                let said = said.as_deref().map(|said| format!(" (“{said}”)")).unwrap_or_default();
                format!("refused with status {status}{said}; {}", remedy(*status, section))
            }
            Self::Failing { status: 429, .. } => {
                "turns requests away (status 429); raise its quota, or ask less of it".to_owned()
            }
            Self::Failing { status, .. } => format!("failed with status {status}; see its own log"),
            Self::Unsound(what) => format!("answered with something that cannot be used: {what}"),
        };
        format!("{section} service at {url} {what}")
    }

    /// For callers.
    pub(super) fn public(&self, section: &str) -> String {
        let what = match self {
            Self::Unreachable(_) => "cannot be reached",
            Self::Slow(_) => "did not answer in time",
            Self::Failing { .. } => "is overloaded or failing",
            Self::Refused { .. } | Self::Unsound(_) => {
                "cannot be used as it is; its operator finds the cause in the log"
            }
        };
        format!("its {section} service {what}")
    }
}

fn remedy(status: u16, section: &str) -> String {
    match status {
        300..=399 => {
            format!("it redirects, and keys are not sent elsewhere: put the final address into {section}.url")
        }
        401 | 403 => format!("check the key in the variable that {section}.api_key_env names"),
        404 | 405 => format!("check {section}.url, which usually ends in /v1, and {section}.model"),
        413 => format!(
            "it takes less at once: lower {section}.batch, {section}.top or {section}.max_tokens, as there are"
        ),
        _ => format!("check {section}.model, and whether its texts are within what the model takes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint() -> Endpoint {
        Endpoint {
            section: "embedding",
            url: "http://models.internal:8000/v1/embeddings".parse().unwrap(),
            model: "m".to_owned(),
            key: None,
        }
    }

    #[test]
    fn operators_get_address_and_remedy_and_callers_get_neither() {
        let troubles = [
            (Trouble::Unreachable("connection refused".to_owned()), "is it running"),
            (Trouble::Slow(Duration::from_secs(5)), "5s"),
            (Trouble::Refused { status: 401, said: None }, "embedding.api_key_env"),
            (Trouble::Refused { status: 404, said: Some("no such model".to_owned()) }, "no such model"),
            (Trouble::Refused { status: 308, said: None }, "final address"),
            (Trouble::Failing { status: 429, retry_after: None }, "quota"),
            (Trouble::Failing { status: 503, retry_after: None }, "503"),
            (Trouble::Unsound("two vectors for three texts".to_owned()), "two vectors"),
        ];
        for (trouble, expected) in troubles {
            let report = trouble.report(&endpoint());
            assert!(report.contains(expected) && report.contains("models.internal"), "{report}");
            assert!(!trouble.public("embedding").contains("internal:"), "{trouble:?}");
        }
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        assert!(Trouble::Failing { status: 500, retry_after: None }.is_passing());
        assert!(!Trouble::Refused { status: 400, said: None }.is_passing());
        assert!(!Trouble::Unsound(String::new()).is_passing());
    }
}
