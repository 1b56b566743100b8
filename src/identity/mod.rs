//! Who a bearer token speaks for. Knows tokens and the issuers of tokens; that they come in a header
//! of an HTTP request, and what is answered when they do not, is the business of `http::auth`.

pub mod jwt;
pub mod tokens;

use crate::access::Caller;

pub use jwt::{Jwt, JwtOptions};
pub use tokens::{KnownToken, Tokens};

/// The subject of callers nobody told apart. Credentials cannot have it: what everybody may do would
/// be theirs, and the other way round.
pub const ANONYMOUS: &str = "anonymous";

/// Longest subject, in characters.
pub const MAX_SUBJECT: usize = 255;

/// Longest token looked at, in bytes. Issuers stay below 8 KiB, since headers do.
const MAX_TOKEN: usize = 16 * 1024;

/// How callers are told apart.
pub enum Identity {
    /// Not at all.
    Anonymous,
    /// By tokens that the configuration lists.
    Tokens(Tokens),
    /// By tokens that an OAuth issuer signs.
    Jwt(Box<Jwt>),
}

/// Why a request has no caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// It came without a token.
    #[error("this server needs a bearer token; send `Authorization: Bearer …`")]
    Missing,
    /// The token is not one of those that are accepted.
    #[error("the bearer token is not accepted: {0}")]
    Invalid(&'static str),
    /// The token was good once.
    #[error("the bearer token has expired; get a new one")]
    Expired,
    /// Whether it is good cannot be told now.
    #[error("the keys that bearer tokens are checked against cannot be had now; try again shortly")]
    Unavailable,
}

impl Identity {
    /// Whom `token` speaks for.
    ///
    /// # Errors
    /// [`Denied`], in words that may be shown to whoever sent it.
    pub async fn caller(&self, token: Option<&str>) -> Result<Caller, Denied> {
        let token = || {
            let token = token.ok_or(Denied::Missing)?;
            if token.len() > MAX_TOKEN { Err(Denied::Invalid("it is too long")) } else { Ok(token) }
        };
        match self {
            // A token nobody can check says nothing.
            Self::Anonymous => Ok(Caller::anonymous()),
            Self::Tokens(tokens) => tokens.caller(token()?),
            Self::Jwt(jwt) => jwt.caller(token()?).await,
        }
    }
}

/// What keeps `subject` from being the name of a caller.
pub fn unfit_subject(subject: &str) -> Option<&'static str> {
    if subject == ANONYMOUS {
        Some("`anonymous` is the name of callers without credentials")
    } else if subject.trim().is_empty() {
        Some("its subject is empty")
    } else if subject.chars().count() > MAX_SUBJECT {
        Some("its subject has more than 255 characters")
    } else if subject.chars().any(char::is_control) {
        Some("its subject has control characters")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_a_plain_name_of_somebody_in_particular() {
        for subject in ["alice", "auth0|5f7c8ec7c33c6c004bbafe82", "8c1f 2d", &"é".repeat(255)] {
            assert_eq!(unfit_subject(subject), None, "{subject}");
        }
        for subject in ["anonymous", "", "  ", "a\nb", "a\0", &"e".repeat(256)] {
            assert!(unfit_subject(subject).is_some(), "{subject:?}");
        }
    }

    #[tokio::test]
    async fn nobody_is_told_apart_unless_configured() {
        for token in [None, Some("whatever")] {
            assert_eq!(Identity::Anonymous.caller(token).await, Ok(Caller::anonymous()));
        }
    }

    #[tokio::test]
    async fn a_token_is_needed_and_has_a_length() {
        let identity = Identity::Tokens(Tokens::new(Vec::new()));
        assert_eq!(identity.caller(None).await, Err(Denied::Missing));
        let long = "x".repeat(MAX_TOKEN + 1);
        assert_eq!(identity.caller(Some(&long)).await, Err(Denied::Invalid("it is too long")));
    }
}
