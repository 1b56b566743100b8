//! The keys an issuer publishes: a JSON Web Key Set (RFC 7517), of which those are kept that can
//! check a signature askback accepts.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse},
};
use serde_json::Value;

/// Algorithms that can be accepted: each takes a pair of keys, so that nobody who can check a
/// signature can make one.
pub const ACCEPTABLE: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

/// Shortest RSA modulus, in bytes: RFC 7518, section 3.3, demands 2048 bits.
const MIN_RSA: usize = 256;

/// A key and the one algorithm it is used with. The key decides on the algorithm, never the token.
pub(super) struct Key {
    id: Option<String>,
    pub(super) algorithm: Algorithm,
    pub(super) key: DecodingKey,
}

/// The usable keys of a set.
pub(super) struct Keys(Vec<Key>);

impl Keys {
    /// Reads a set and keeps the keys for `accepted` algorithms. One that cannot be read is left out:
    /// issuers publish keys for other purposes, too.
    ///
    /// # Errors
    /// In words, if it is no such set.
    pub(super) fn read(set: &[u8], accepted: &[Algorithm]) -> Result<Self, &'static str> {
        let set: Value = serde_json::from_slice(set).map_err(|_| "the answer is not JSON")?;
        let keys = set.get("keys").and_then(Value::as_array).ok_or("the answer has no list `keys`")?;
        let keys: Vec<Key> = keys
            .iter()
            .filter_map(|key| serde_json::from_value(key.clone()).ok())
            .filter_map(|jwk: Jwk| usable(&jwk))
            .filter(|key| accepted.contains(&key.algorithm))
            .collect();
        if keys.is_empty() {
            return Err("no key of the set is for an algorithm that is accepted");
        }
        Ok(Self(keys))
    }

    /// The key of that name. A token that names none is checked against the only key there is.
    pub(super) fn find(&self, id: Option<&str>) -> Option<&Key> {
        match (id, self.0.as_slice()) {
            (Some(id), keys) => keys.iter().find(|key| key.id.as_deref() == Some(id)),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

fn usable(jwk: &Jwk) -> Option<Key> {
    if jwk.common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
        return None;
    }
    let algorithm = match &jwk.algorithm {
        AlgorithmParameters::RSA(rsa) if modulus(&rsa.n) >= MIN_RSA => Algorithm::RS256,
        AlgorithmParameters::EllipticCurve(ec) if ec.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::OctetKeyPair(okp) if okp.curve == EllipticCurve::Ed25519 => Algorithm::EdDSA,
        // Symmetric keys above all: they have no place in a public set.
        _ => return None,
    };
    // A key that is meant for another algorithm (PS256, say) is not used with this one.
    if jwk.common.key_algorithm.is_some_and(|meant| meant != algorithm.into()) {
        return None;
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    Some(Key { id: jwk.common.key_id.clone(), algorithm, key })
}

/// Bytes of a modulus in base64.
fn modulus(n: &str) -> usize {
    BASE64_URL_SAFE_NO_PAD.decode(n).map_or(0, |bytes| bytes.iter().skip_while(|byte| **byte == 0).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Public keys of RFC 7517, appendix A.1, RFC 8037, appendix A.2, and a short one.
    fn set() -> Value {
        let rsa = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRX\
                   jBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAta\
                   SqzTsHUGTzvqPnAiAzBPYnRmKRmxWCGQxuE5HxnKu9FmCHEfXOnAgvdZeZU8PYfLGPDeeSs62N6tPkMfRHCJfdbIrvyUN6rV3\
                   uN4u4PURTKi6VO3IXVSbAAjiuLjRHSPbWmxHfDyX0kpWQ6Zw9Q";
        let ec = json!({
            "kty": "EC", "crv": "P-256", "kid": "ec",
            "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
            "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
        });
        json!({"keys": [
            {"kty": "RSA", "n": rsa, "e": "AQAB", "alg": "RS256", "kid": "rsa", "use": "sig"},
            {"kty": "RSA", "n": rsa, "e": "AQAB", "alg": "PS256", "kid": "pss"},
            {"kty": "RSA", "n": rsa, "e": "AQAB", "kid": "enc", "use": "enc"},
            {"kty": "RSA", "n": rsa.get(..100), "e": "AQAB", "kid": "short"},
            ec,
            {"kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"},
            {"kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75", "kid": "oct"},
            {"kty": "new", "kid": "new"}, 7,
        ]})
    }

    #[test]
    fn keys_are_used_with_the_algorithm_they_are_for() {
        let keys = Keys::read(set().to_string().as_bytes(), &ACCEPTABLE).unwrap_or_else(|e| panic!("{e}"));
        let algorithm = |id| keys.find(Some(id)).map(|key| key.algorithm);
        assert_eq!(algorithm("rsa"), Some(Algorithm::RS256));
        assert_eq!(algorithm("ec"), Some(Algorithm::ES256));
        assert_eq!(algorithm("ed"), Some(Algorithm::EdDSA));
        for unusable in ["pss", "enc", "short", "oct", "new", "RSA", ""] {
            assert_eq!(algorithm(unusable), None, "{unusable}");
        }
        assert!(keys.find(None).is_none(), "which of three?");
    }

    #[test]
    fn what_is_not_accepted_is_not_kept() {
        let keys =
            Keys::read(set().to_string().as_bytes(), &[Algorithm::EdDSA]).unwrap_or_else(|e| panic!("{e}"));
        assert!(keys.find(Some("rsa")).is_none());
        assert_eq!(keys.find(None).map(|key| key.algorithm), Some(Algorithm::EdDSA));
        assert!(Keys::read(br#"{"keys": []}"#, &ACCEPTABLE).is_err());
        assert!(Keys::read(br#"{"jwks": []}"#, &ACCEPTABLE).is_err());
        assert!(Keys::read(b"<html>", &ACCEPTABLE).is_err());
    }
}
