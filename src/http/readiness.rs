//! Readiness as a type: the service is ready when every latch has been dropped.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// What a latch says it waits for.
type Waiting = Arc<dyn Fn() -> String + Send + Sync>;

/// Knows what readiness still waits for.
#[derive(Clone, Default)]
pub struct Readiness(Arc<Inner>);

#[derive(Default)]
struct Inner {
    latches: Mutex<Vec<(u64, Waiting)>>,
    draining: AtomicBool,
}

/// Holds readiness back until it is dropped.
pub struct Latch {
    readiness: Readiness,
    id: u64,
}

impl Readiness {
    /// Holds readiness back; `waiting` says in a few generic words what for, whenever asked.
    pub fn hold(&self, waiting: impl Fn() -> String + Send + Sync + 'static) -> Latch {
        let mut latches = self.0.latches.lock().unwrap_or_else(PoisonError::into_inner);
        let id = latches.last().map_or(0, |(id, _)| id + 1);
        latches.push((id, Arc::new(waiting)));
        Latch { readiness: self.clone(), id }
    }

    /// From now on the service is not ready: it goes down.
    pub fn drain(&self) {
        self.0.draining.store(true, Ordering::Relaxed);
    }

    /// What readiness waits for; empty when ready.
    pub fn waiting_for(&self) -> Vec<String> {
        if self.0.draining.load(Ordering::Relaxed) {
            return vec!["shutdown".to_owned()];
        }
        let latches: Vec<Waiting> = {
            let latches = self.0.latches.lock().unwrap_or_else(PoisonError::into_inner);
            latches.iter().map(|(_, waiting)| Arc::clone(waiting)).collect()
        };
        latches.iter().map(|waiting| waiting()).collect()
    }
}

impl Drop for Latch {
    fn drop(&mut self) {
        let mut latches = self.readiness.0.latches.lock().unwrap_or_else(PoisonError::into_inner);
        latches.retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_when_every_latch_is_dropped() {
        let readiness = Readiness::default();
        assert!(readiness.waiting_for().is_empty());
        let first = readiness.hold(|| "store".into());
        let second = readiness.hold(|| "sources".into());
        assert_eq!(readiness.waiting_for(), ["store", "sources"]);
        drop(first);
        assert_eq!(readiness.waiting_for(), ["sources"]);
        drop(second);
        assert!(readiness.waiting_for().is_empty());
        readiness.drain();
        assert_eq!(readiness.waiting_for(), ["shutdown"]);
    }
}
