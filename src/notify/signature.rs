//! Signatures of the Standard Webhooks specification (1.0): HMAC-SHA256 over the message's id, the time
//! and the body, so that a receiver knows who sent it, and that it is not an old one sent again.

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The value of `webhook-signature`. `timestamp` is in seconds since 1970.
pub(super) fn signature(secret: &[u8], id: &str, timestamp: i64, body: &str) -> String {
    // HMAC takes keys of every length; without one there would be nothing to sign with.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_that_of_the_specification() {
        // The example of the reference implementations' test suites.
        let secret = BASE64_STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(
            signature(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }
}
