//! `[limits]`: how much one caller, and all of them together, may ask of the service.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Problem;
use crate::limits::LimitOptions;

/// `[limits]` as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct RawLimits {
    /// How long the work of one round may take; waiting for a person is no work.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    call_timeout: Duration,
    /// Rounds worked on at a time.
    concurrent_calls: usize,
    /// Rounds that may wait for their turn.
    queued_calls: usize,
    /// How long one may wait for its turn.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    queue_wait: Duration,
    /// Calls per caller and minute that read.
    reads_per_minute: u32,
    /// Calls per caller and minute of `write`.
    writes_per_minute: u32,
    /// Calls per caller and minute of `request_access`.
    access_requests_per_minute: u32,
    /// Requests per caller and minute, whatever they are.
    requests_per_minute: u32,
}

impl Default for RawLimits {
    fn default() -> Self {
        let LimitOptions {
            call_timeout,
            concurrent_calls,
            queued_calls,
            queue_wait,
            reads_per_minute,
            writes_per_minute,
            access_requests_per_minute,
            requests_per_minute,
        } = LimitOptions::default();
        Self {
            call_timeout,
            concurrent_calls,
            queued_calls,
            queue_wait,
            reads_per_minute,
            writes_per_minute,
            access_requests_per_minute,
            requests_per_minute,
        }
    }
}

/// Most that can be worked on or wait: what the semaphores count to, and more than any machine does.
const MOST: usize = 100_000;

impl RawLimits {
    pub(super) fn validate(self, problems: &mut Vec<Problem>) -> LimitOptions {
        let mut problem =
            |key: &str, message: String| problems.push(Problem::new(format!("limits.{key}"), message));
        for (key, value) in [("call_timeout", self.call_timeout), ("queue_wait", self.queue_wait)] {
            if !(Duration::from_millis(100)..=Duration::from_secs(600)).contains(&value) {
                problem(key, "must be from 100ms to 10m".to_owned());
            }
        }
        if !(1..=MOST).contains(&self.concurrent_calls) {
            problem("concurrent_calls", format!("must be from 1 to {MOST}"));
        }
        if self.queued_calls > MOST {
            problem("queued_calls", format!("must be from 0 to {MOST}"));
        }
        for (key, value) in [
            ("reads_per_minute", self.reads_per_minute),
            ("writes_per_minute", self.writes_per_minute),
            ("access_requests_per_minute", self.access_requests_per_minute),
            ("requests_per_minute", self.requests_per_minute),
        ] {
            if value == 0 {
                problem(key, "must be at least 1; a source's policy is what keeps callers out".to_owned());
            }
        }
        LimitOptions {
            call_timeout: self.call_timeout,
            concurrent_calls: self.concurrent_calls,
            queued_calls: self.queued_calls,
            queue_wait: self.queue_wait,
            reads_per_minute: self.reads_per_minute,
            writes_per_minute: self.writes_per_minute,
            access_requests_per_minute: self.access_requests_per_minute,
            requests_per_minute: self.requests_per_minute,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn problems(limits: Value) -> Vec<String> {
        let mut problems = Vec::new();
        serde_json::from_value::<RawLimits>(limits).unwrap().validate(&mut problems);
        problems.into_iter().map(|problem| problem.key).collect()
    }

    #[test]
    fn limits_that_let_nobody_in_are_mistakes() {
        assert_eq!(problems(json!({})), [""; 0]);
        assert_eq!(problems(json!({"queued_calls": 0, "call_timeout": "2m"})), [""; 0]);
        for (key, value) in [
            ("call_timeout", json!("0s")),
            ("queue_wait", json!("1h")),
            ("concurrent_calls", json!(0)),
            ("queued_calls", json!(1_000_000)),
            ("reads_per_minute", json!(0)),
            ("writes_per_minute", json!(0)),
            ("access_requests_per_minute", json!(0)),
            ("requests_per_minute", json!(0)),
        ] {
            assert_eq!(problems(json!({key: value})), [format!("limits.{key}")]);
        }
    }
}
