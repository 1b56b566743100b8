//! How much one caller may ask of the service, and how much all of them together. A limit is a promise
//! to everybody else: whoever meets one is told which, and when to come back.

mod rates;

use std::time::Duration;

use tokio::sync::Semaphore;

use self::rates::Rate;

/// How much is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitOptions {
    /// How long the work of one round may take. Waiting for a person is no work.
    pub call_timeout: Duration,
    /// Rounds worked on at a time.
    pub concurrent_calls: usize,
    /// Rounds that may wait for their turn.
    pub queued_calls: usize,
    /// How long one may wait for its turn.
    pub queue_wait: Duration,
    /// Calls per caller and minute that read.
    pub reads_per_minute: u32,
    /// Calls per caller and minute of `write`.
    pub writes_per_minute: u32,
    /// Calls per caller and minute of `request_access`.
    pub access_requests_per_minute: u32,
    /// Requests per caller and minute, whatever they are.
    pub requests_per_minute: u32,
}

impl Default for LimitOptions {
    fn default() -> Self {
        Self {
            call_timeout: Duration::from_secs(30),
            concurrent_calls: 32,
            queued_calls: 128,
            queue_wait: Duration::from_secs(10),
            // Far more than an agent at work makes, far less than one in a loop could.
            reads_per_minute: 6000,
            writes_per_minute: 60,
            access_requests_per_minute: 10,
            requests_per_minute: 12_000,
        }
    }
}

/// What a call is counted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// It reads: sources, data cards, lists.
    Read,
    /// It writes.
    Write,
    /// It asks for access, which a person has to look at.
    AccessRequest,
    /// Any request at all, before it is known what for.
    Request,
}

/// A limit that was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exceeded {
    /// Too many calls of one caller.
    #[error("you have reached {per_minute} calls a minute ({limit}); try again in {} s", whole_seconds(*.retry_after))]
    Rate {
        /// The setting.
        limit: &'static str,
        /// Its value.
        per_minute: u32,
        /// When there is room again.
        retry_after: Duration,
    },
    /// Too many calls of everybody.
    #[error("the service is busy ({limit}); try again in {} s", whole_seconds(*.retry_after))]
    Busy {
        /// The setting.
        limit: &'static str,
        /// When it is worth trying again.
        retry_after: Duration,
    },
    /// The work took too long.
    #[error("the call took longer than {} s (call_timeout) and was given up", whole_seconds(*.after))]
    Slow {
        /// How long it was given.
        after: Duration,
    },
}

/// Seconds, rounded up, at least one: what `Retry-After` can say.
pub fn whole_seconds(span: Duration) -> u64 {
    span.as_secs() + u64::from(span.subsec_nanos() > 0 || span.is_zero())
}

/// Keeps count.
pub struct Limits {
    options: LimitOptions,
    slots: Semaphore,
    places: Semaphore,
    reads: Rate,
    writes: Rate,
    access_requests: Rate,
    requests: Rate,
}

impl Limits {
    /// Nothing has been counted yet.
    pub fn new(options: LimitOptions) -> Self {
        Self {
            slots: Semaphore::new(options.concurrent_calls),
            places: Semaphore::new(options.queued_calls),
            reads: Rate::new("limits.reads_per_minute", options.reads_per_minute),
            writes: Rate::new("limits.writes_per_minute", options.writes_per_minute),
            access_requests: Rate::new(
                "limits.access_requests_per_minute",
                options.access_requests_per_minute,
            ),
            requests: Rate::new("limits.requests_per_minute", options.requests_per_minute),
            options,
        }
    }

    /// Counts a call of `subject`.
    ///
    /// # Errors
    /// [`Exceeded::Rate`], and then it is not counted.
    pub fn count(&self, subject: &str, class: Class) -> Result<(), Exceeded> {
        let rate = match class {
            Class::Read => &self.reads,
            Class::Write => &self.writes,
            Class::AccessRequest => &self.access_requests,
            Class::Request => &self.requests,
        };
        rate.count(subject)
    }

    /// Does `work` when it is its turn, for as long as it may take.
    ///
    /// # Errors
    /// [`Exceeded::Busy`] before the work began, [`Exceeded::Slow`] when it was given up.
    pub async fn run<T>(&self, work: impl Future<Output = T>) -> Result<T, Exceeded> {
        let busy = |limit, retry_after| Exceeded::Busy { limit, retry_after };
        let _slot = match self.slots.try_acquire() {
            Ok(slot) => slot,
            Err(_) => {
                let _place = self
                    .places
                    .try_acquire()
                    .map_err(|_| busy("limits.queued_calls", Duration::from_secs(1)))?;
                tokio::time::timeout(self.options.queue_wait, self.slots.acquire())
                    .await
                    .ok()
                    .and_then(Result::ok)
                    .ok_or_else(|| busy("limits.queue_wait", Duration::from_secs(5)))?
            }
        };
        let after = self.options.call_timeout;
        tokio::time::timeout(after, work).await.map_err(|_| Exceeded::Slow { after })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::oneshot;

    use super::*;

    #[test]
    fn seconds_are_rounded_up() {
        for (millis, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (59_999, 60)] {
            assert_eq!(whole_seconds(Duration::from_millis(millis)), seconds);
        }
    }

    #[test]
    fn every_caller_and_every_class_has_its_own_count() {
        let options = LimitOptions { reads_per_minute: 2, writes_per_minute: 1, ..LimitOptions::default() };
        let limits = Limits::new(options);
        for _ in 0..2 {
            assert_eq!(limits.count("alice", Class::Read), Ok(()));
        }
        let Err(Exceeded::Rate { limit, per_minute, retry_after }) = limits.count("alice", Class::Read)
        else {
            panic!("a third read");
        };
        assert_eq!((limit, per_minute), ("limits.reads_per_minute", 2));
        // Two a minute is one in thirty seconds.
        assert!(retry_after <= Duration::from_secs(30) && retry_after > Duration::from_secs(25));
        assert_eq!(limits.count("bob", Class::Read), Ok(()));
        assert_eq!(limits.count("alice", Class::Write), Ok(()));
        assert!(limits.count("alice", Class::Write).is_err());
        assert_eq!(limits.count("alice", Class::AccessRequest), Ok(()));
    }

    /// Work that is under way until told to end.
    fn held(limits: &Arc<Limits>) -> (oneshot::Sender<()>, tokio::task::JoinHandle<Result<(), Exceeded>>) {
        let (end, ended) = oneshot::channel::<()>();
        let limits = Arc::clone(limits);
        let task = tokio::spawn(async move {
            limits
                .run(async {
                    let _ = ended.await;
                })
                .await
        });
        (end, task)
    }

    async fn settle() {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn work_waits_its_turn_and_the_queue_ends() {
        let options = LimitOptions { concurrent_calls: 1, queued_calls: 1, ..LimitOptions::default() };
        let limits = Arc::new(Limits::new(options));
        let (end_first, first) = held(&limits);
        settle().await;
        let (end_second, second) = held(&limits);
        settle().await;
        let third = limits.run(async {}).await;
        let busy = Exceeded::Busy { limit: "limits.queued_calls", retry_after: Duration::from_secs(1) };
        assert_eq!(third, Err(busy));
        end_first.send(()).unwrap();
        assert_eq!(first.await.unwrap(), Ok(()));
        end_second.send(()).unwrap();
        assert_eq!(second.await.unwrap(), Ok(()));
        assert_eq!(limits.run(async { 7 }).await, Ok(7));
    }

    #[tokio::test]
    async fn nothing_waits_or_works_for_ever() {
        let brief = Duration::from_millis(20);
        let options = LimitOptions { concurrent_calls: 1, queue_wait: brief, ..LimitOptions::default() };
        let limits = Arc::new(Limits::new(options));
        let (_end, _first) = held(&limits);
        settle().await;
        let waited = limits.run(async {}).await;
        assert!(matches!(waited, Err(Exceeded::Busy { limit: "limits.queue_wait", .. })), "{waited:?}");

        let limits = Limits::new(LimitOptions { call_timeout: brief, ..LimitOptions::default() });
        let slow = limits.run(std::future::pending::<()>()).await;
        assert_eq!(slow, Err(Exceeded::Slow { after: brief }));
        assert_eq!(limits.run(async { 1 }).await, Ok(1), "the slot is free again");
    }

    #[tokio::test]
    async fn a_caller_that_goes_away_leaves_its_place() {
        let options = LimitOptions { concurrent_calls: 1, queued_calls: 1, ..LimitOptions::default() };
        let limits = Arc::new(Limits::new(options));
        let (end, first) = held(&limits);
        settle().await;
        let (_end, second) = held(&limits);
        settle().await;
        second.abort();
        assert!(second.await.unwrap_err().is_cancelled());
        let (end_third, third) = held(&limits);
        settle().await;
        assert!(!third.is_finished(), "it waits in the place that was left");
        end.send(()).unwrap();
        end_third.send(()).unwrap();
        assert_eq!((first.await.unwrap(), third.await.unwrap()), (Ok(()), Ok(())));
    }
}
