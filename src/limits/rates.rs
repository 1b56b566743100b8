//! Calls a minute, by caller: the generic cell rate algorithm, which lets a caller that was quiet make
//! a minute's calls at once, and then one at a time as they become free.

use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicU32, Ordering},
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    state::keyed::HashMapStateStore,
};

use super::Exceeded;

/// Every so many calls those callers are forgotten who have been quiet for long enough.
const SWEEP: u32 = 4096;

pub(super) struct Rate {
    limit: &'static str,
    per_minute: NonZeroU32,
    callers: RateLimiter<String, HashMapStateStore<String>, DefaultClock>,
    counted: AtomicU32,
}

impl Rate {
    /// `limit` is the name of the setting. A limit of none would be one that lets nobody in; it counts
    /// as one.
    pub(super) fn new(limit: &'static str, per_minute: u32) -> Self {
        let per_minute = NonZeroU32::new(per_minute).unwrap_or(NonZeroU32::MIN);
        let callers = RateLimiter::hashmap(Quota::per_minute(per_minute));
        Self { limit, per_minute, callers, counted: AtomicU32::new(0) }
    }

    pub(super) fn count(&self, subject: &str) -> Result<(), Exceeded> {
        if self.counted.fetch_add(1, Ordering::Relaxed) % SWEEP == SWEEP - 1 {
            self.callers.retain_recent();
        }
        self.callers.check_key(&subject.to_owned()).map_err(|not_until| Exceeded::Rate {
            limit: self.limit,
            per_minute: self.per_minute.get(),
            retry_after: not_until.wait_time_from(DefaultClock::default().now()),
        })
    }
}
