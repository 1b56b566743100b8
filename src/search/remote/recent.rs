//! The vectors of queries asked just now. One call embeds the same words again and again: for every
//! source it searches, and in every round after a question. Kept in memory only, and few.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use crate::search::embedder::EmbedError;

/// How many are kept.
const KEPT: usize = 64;

/// Set once, by whoever comes first; who comes meanwhile waits for it.
type Answer = Arc<OnceLock<Result<Vec<f32>, EmbedError>>>;

/// See the module.
#[derive(Default)]
pub(super) struct Recent(Mutex<VecDeque<(String, Answer)>>);

impl Recent {
    /// The vector of `query`: as it was, or as `ask` says. A failure is shared by those who waited
    /// for it, so that they do not wait one after the other, and is not kept.
    pub(super) fn get(
        &self,
        query: &str,
        ask: impl FnOnce() -> Result<Vec<f32>, EmbedError>,
    ) -> Result<Vec<f32>, EmbedError> {
        let answer = self.place(query);
        let result = answer.get_or_init(ask);
        if result.is_err() {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.retain(|(_, other)| !Arc::ptr_eq(other, &answer));
        }
        result.clone()
    }

    fn place(&self, query: &str) -> Answer {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = kept.iter().find(|(other, _)| other == query) {
            return Arc::clone(answer);
        }
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        let answer = Answer::default();
        kept.push_back((query.to_owned(), Arc::clone(&answer)));
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Barrier,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
        time::Duration,
    };

    use super::*;

    fn failed() -> Result<Vec<f32>, EmbedError> {
        Err(EmbedError::Unavailable("down".to_owned()))
    }

    #[test]
    fn asks_once_for_the_same_words_and_again_for_old_ones() {
        let (recent, asked) = (Recent::default(), AtomicUsize::new(0));
        let get = |query: &str| {
            recent.get(query, || {
                asked.fetch_add(1, Ordering::SeqCst);
                Ok(vec![query.len() as f32])
            })
        };
        assert_eq!(
            (get("a").unwrap(), get("bb").unwrap(), get("a").unwrap()),
            (vec![1.0], vec![2.0], vec![1.0])
        );
        assert_eq!(asked.swap(0, Ordering::SeqCst), 2);
        for n in 0..KEPT {
            get(&format!("query {n}")).unwrap();
        }
        get("a").unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), KEPT + 1);
    }

    #[test]
    fn a_failure_is_shared_and_forgotten() {
        let (recent, asked, start) = (Recent::default(), AtomicUsize::new(0), Barrier::new(8));
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    let slowly = || {
                        asked.fetch_add(1, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(300));
                        failed()
                    };
                    assert!(recent.get("a", slowly).is_err());
                });
            }
        });
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert_eq!(recent.get("a", || Ok(vec![1.0])).unwrap(), [1.0]);
    }
}
