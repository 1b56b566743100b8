//! Static bearer tokens: listed by their SHA-256, so that whoever reads the configuration has none.

use std::collections::HashMap;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::Denied;
use crate::access::Caller;

/// What tokens begin with, so that scanners for leaked secrets find them.
const PREFIX: &str = "askback_";

/// Random bytes of a token: more than can be guessed, which is why an unsalted hash of it is safe to
/// list.
const ENTROPY: usize = 32;

/// One token that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownToken {
    /// SHA-256 of the token.
    pub sha256: [u8; 32],
    /// Whom it speaks for.
    pub caller: Caller,
    /// When it ceases to be accepted.
    pub expires_at: Option<OffsetDateTime>,
}

/// The tokens that are accepted.
pub struct Tokens {
    known: HashMap<[u8; 32], KnownToken>,
}

impl Tokens {
    /// Accepts `known`.
    pub fn new(known: Vec<KnownToken>) -> Self {
        Self { known: known.into_iter().map(|token| (token.sha256, token)).collect() }
    }

    /// Whom `token` speaks for. It is looked up by its hash: what comparing takes longer or shorter
    /// depends on bytes of a hash, which nobody can choose.
    pub(super) fn caller(&self, token: &str) -> Result<Caller, Denied> {
        let known = self.known.get(&digest(token)).ok_or(Denied::Invalid("nobody has this token"))?;
        if known.expires_at.is_some_and(|end| end <= OffsetDateTime::now_utc()) {
            return Err(Denied::Expired);
        }
        Ok(known.caller.clone())
    }
}

/// SHA-256 of a token.
pub fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// A new token.
///
/// # Errors
/// If the system gives no random bytes.
pub fn mint() -> Result<String, getrandom::Error> {
    let mut bytes = [0; ENTROPY];
    getrandom::fill(&mut bytes)?;
    Ok(format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;

    fn known(token: &str, subject: &str, expires_at: Option<OffsetDateTime>) -> KnownToken {
        let caller = Caller { subject: subject.to_owned(), ..Caller::anonymous() };
        KnownToken { sha256: digest(token), caller, expires_at }
    }

    #[test]
    fn a_token_speaks_for_whom_it_is_listed_with_until_it_expires() {
        let now = OffsetDateTime::now_utc();
        let tokens = Tokens::new(vec![
            known("one", "alice", None),
            known("two", "bob", Some(now + Duration::hours(1))),
            known("old", "bob", Some(now - Duration::seconds(1))),
        ]);
        let subject = |token| tokens.caller(token).map(|caller| caller.subject);
        assert_eq!(subject("one"), Ok("alice".to_owned()));
        assert_eq!(subject("two"), Ok("bob".to_owned()));
        assert_eq!(subject("old"), Err(Denied::Expired));
        for wrong in ["", "One", "one ", "on", "onee"] {
            assert_eq!(subject(wrong), Err(Denied::Invalid("nobody has this token")), "{wrong:?}");
        }
    }

    #[test]
    fn the_hash_is_sha256() {
        // FIPS 180-4, example of one block.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let hex: String = digest("abc").iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected);
    }

    #[test]
    fn tokens_are_made_of_256_random_bits() {
        let (one, other) = (mint().unwrap(), mint().unwrap());
        assert_ne!(one, other);
        // 32 bytes in base64 without padding are 43 characters.
        assert_eq!(one.strip_prefix("askback_").unwrap().len(), 43);
    }
}
