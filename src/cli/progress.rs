//! Showing how far long work has come.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::CliError;
use crate::{
    config::Log,
    sources::{Progress, Stage},
    telemetry,
};

/// Starts logs beside a bar, which shows what they would say of progress.
pub(super) fn log_beside_bar(log: &Log) -> Result<(), CliError> {
    let level = format!("warn,{}", log.level.replace("info", "warn"));
    telemetry::init(&Log { level, ..log.clone() }).map_err(CliError::Usage)
}

/// A bar on a terminal, nothing elsewhere (indicatif draws only where somebody looks).
pub(super) struct Bar {
    slug: String,
    bar: ProgressBar,
}

impl Bar {
    pub(super) fn new(slug: &str) -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{msg:32} {bar:30} {pos}/{len} {elapsed}") {
            bar.set_style(style);
        }
        Self { slug: slug.to_owned(), bar }
    }

    /// `done` of `total` queries have been searched for.
    pub(super) fn searched(&self, done: usize, total: usize) {
        self.show("searching", done as u64, total as u64);
    }

    fn show(&self, what: &str, done: u64, total: u64) {
        self.bar.set_message(format!("{}: {what}", self.slug));
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

impl Progress for Bar {
    fn step(&self, stage: Stage, done: u64, total: u64) {
        self.show(stage.name(), done, total);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A log line now and then, for a service that nobody watches.
pub(super) struct Logged {
    slug: String,
    last: Mutex<Option<(Stage, Instant)>>,
}

impl Logged {
    pub(super) fn new(slug: &str) -> Self {
        Self { slug: slug.to_owned(), last: Mutex::new(None) }
    }
}

impl Progress for Logged {
    fn step(&self, stage: Stage, done: u64, total: u64) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|(before, at)| before == stage && at.elapsed() > Duration::from_secs(5));
        // A check that finds nothing to do should say nothing: only what takes time is news.
        if due && total > 0 {
            tracing::info!(source = self.slug, stage = stage.name(), done, total, "indexing");
            *last = Some((stage, Instant::now()));
        } else if last.is_none_or(|(before, _)| before != stage) {
            *last = Some((stage, Instant::now()));
        }
    }
}
