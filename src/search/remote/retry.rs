//! How long to wait for a service, and how often to try again.

use std::time::Duration;

use reqwest::header::HeaderValue;
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

/// The wait before the first further attempt; each further one waits twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The longest wait of our own making.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The longest wait a service can make us wait. Quotas are commonly by the minute.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// How patient one call is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Time for one attempt.
    pub(super) attempt: Duration,
    /// Time for all attempts and the waits between them.
    pub(super) total: Option<Duration>,
    /// Further attempts after the first.
    pub(super) retries: u32,
}

/// How long to wait before attempt `n + 2`: twice as long each time, give or take a half, so that
/// callers that failed together do not come back together; or what the service asks for, if more.
pub(super) fn wait(n: u32, asked: Option<Duration>) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(2u32.saturating_pow(n)).min(LONGEST_WAIT);
    let own = doubled.mul_f64(0.5 + fraction());
    own.max(asked.unwrap_or_default().min(LONGEST_ASKED))
}

/// A random number in [0, 1).
fn fraction() -> f64 {
    f64::from(getrandom::u32().unwrap_or(u32::MAX / 2)) / (f64::from(u32::MAX) + 1.0)
}

/// What `Retry-After` asks for: seconds, or a date.
pub(super) fn retry_after(value: &HeaderValue) -> Option<Duration> {
    let text = value.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let until = OffsetDateTime::parse(text, &Rfc2822).ok()?;
    Some((until - OffsetDateTime::now_utc()).try_into().unwrap_or(Duration::ZERO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_are_jittered_and_have_an_end() {
        for (n, expected) in [(0, 500u64), (1, 1000), (3, 4000), (30, 20_000)] {
            for _ in 0..50 {
                let waited = wait(n, None).as_millis() as u64;
                assert!((expected / 2..=expected * 3 / 2).contains(&waited), "{n}: {waited}");
            }
        }
        assert_ne!(wait(3, None), wait(3, None));
    }

    #[test]
    fn a_service_is_obeyed_within_reason() {
        assert_eq!(wait(0, Some(Duration::from_secs(7))), Duration::from_secs(7));
        assert_eq!(wait(0, Some(Duration::from_secs(86_400))), LONGEST_ASKED);
        assert!(wait(3, Some(Duration::ZERO)) > Duration::from_secs(1));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let read = |text: &'static str| retry_after(&HeaderValue::from_static(text));
        assert_eq!(read("3"), Some(Duration::from_secs(3)));
        assert_eq!(read("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert!(read("Wed, 21 Oct 2099 07:28:00 GMT").is_some_and(|wait| wait > LONGEST_ASKED));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-1"), None);
    }
}
