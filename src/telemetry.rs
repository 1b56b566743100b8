//! Logs: set up once, before anything else runs. Query text, retrieved text and secrets never go
//! into a line at `info` or above.

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::{Format, Log};

/// Sends logs to standard error in the configured format.
///
/// # Errors
/// The message says what is wrong with `log.level`.
pub fn init(settings: &Log) -> Result<(), String> {
    // rmcp warns with what the client sent, of any length. Both are chatty below, and with arguments in their lines; `log.level` can still name them.
    let filter = EnvFilter::try_new(format!("tantivy=warn,rmcp=error,{}", settings.level))
        .map_err(|error| format!("log.level: {error}; write a level such as info, or askback=debug"))?;
    let registry = tracing_subscriber::registry().with(filter);
    let result = match settings.format {
        Format::Text => registry.with(fmt::layer().with_writer(std::io::stderr)).try_init(),
        Format::Json => {
            registry.with(fmt::layer().json().flatten_event(true).with_writer(std::io::stderr)).try_init()
        }
    };
    // Already set: tests and `ask` start several services in one process.
    let _ = result;
    Ok(())
}
