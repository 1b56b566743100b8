//! Access tokens that an OAuth issuer signs: JSON Web Tokens, checked by RFC 7519 and the advice of
//! RFC 8725.

mod cache;
mod claims;
mod keys;

#[cfg(test)]
mod tests;

use jsonwebtoken::{Algorithm, Validation, decode, decode_header, errors::ErrorKind};
use reqwest::Url;
use serde_json::Value;

pub use cache::Timing;
pub use claims::ClaimNames;
pub use keys::ACCEPTABLE;

use self::cache::KeyCache;
use super::Denied;
use crate::access::Caller;

/// How far clocks may be apart, in seconds.
const LEEWAY: u64 = 60;

/// Which tokens are accepted, and what they say.
#[derive(Debug, Clone)]
pub struct JwtOptions {
    /// Who has to have issued them: the very text of `iss`.
    pub issuer: String,
    /// Whom they have to be for: one of these has to be among `aud`.
    pub audiences: Vec<String>,
    /// Where the issuer publishes its keys.
    pub jwks_url: Url,
    /// The address clients reach `/mcp` by, which is what they ask the issuer for tokens for.
    pub resource: Url,
    /// Signature algorithms, of [`ACCEPTABLE`].
    pub algorithms: Vec<Algorithm>,
    /// Which claims say what.
    pub claims: ClaimNames,
    /// How long keys are kept.
    pub timing: Timing,
}

/// Checks tokens of an issuer.
pub struct Jwt {
    options: JwtOptions,
    keys: KeyCache,
}

impl Jwt {
    /// Checks tokens by `options`. Fetches nothing yet.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn new(options: JwtOptions) -> Result<Self, String> {
        let keys = KeyCache::new(options.jwks_url.clone(), options.algorithms.clone(), options.timing)?;
        Ok(Self { options, keys })
    }

    /// What it was made with.
    pub fn options(&self) -> &JwtOptions {
        &self.options
    }

    /// Whom `token` speaks for.
    pub(super) async fn caller(&self, token: &str) -> Result<Caller, Denied> {
        const FORM: Denied = Denied::Invalid("it is not a JSON Web Token signed in a way that is accepted");
        let header = decode_header(token).map_err(|_| FORM)?;
        // Extensions that must be understood are not (RFC 7515, section 4.1.11).
        if header.crit.is_some() {
            return Err(FORM);
        }
        // Refused before it can make anything be fetched.
        if !self.options.algorithms.contains(&header.alg) {
            return Err(FORM);
        }
        let id = header.kid.as_deref();
        let held = self.keys.keys(id).await?;
        let key = held.keys.find(id).ok_or(Denied::Invalid("its issuer publishes no such key"))?;
        let token = decode::<Value>(token, &key.key, &self.rules(key.algorithm))
            .map_err(|error| why(error.kind()))?;
        self.options.claims.caller(&token.claims)
    }

    fn rules(&self, algorithm: Algorithm) -> Validation {
        let mut rules = Validation::new(algorithm);
        rules.leeway = LEEWAY;
        rules.validate_nbf = true;
        rules.set_issuer(&[&self.options.issuer]);
        rules.set_audience(&self.options.audiences);
        rules.set_required_spec_claims(&["exp", "iss", "aud"]);
        rules
    }
}

fn why(kind: &ErrorKind) -> Denied {
    match kind {
        ErrorKind::ExpiredSignature => Denied::Expired,
        ErrorKind::ImmatureSignature => Denied::Invalid("it is not valid yet"),
        ErrorKind::InvalidIssuer => Denied::Invalid("it is from another issuer"),
        ErrorKind::InvalidAudience => Denied::Invalid("it is for another audience"),
        ErrorKind::MissingRequiredClaim(_) => Denied::Invalid("it lacks one of the claims exp, iss and aud"),
        _ => Denied::Invalid("its signature does not hold"),
    }
}
