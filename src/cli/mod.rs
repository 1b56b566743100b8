//! The commands, one file each. What a person reads goes to standard output, logs and errors to
//! standard error. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.

mod access;
mod ask;
mod calibrate;
mod check;
mod evaluate;
mod health;
mod ingest;
mod progress;
mod serve;
mod start;
mod terminal;

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::{Parser, Subcommand};

use crate::config::{self, ConfigError, Settings};

pub use start::{Started, start};

#[derive(Parser)]
#[command(name = "askback", version, about, max_term_width = 100)]
struct Arguments {
    /// Folder with default.toml and profile files.
    #[arg(long, global = true, env = "ASKBACK_CONFIG_DIR", default_value = "config")]
    config: PathBuf,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Serve MCP clients (the default).
    Serve,
    /// Ask a question at the terminal, and be asked back.
    Ask(ask::Ask),
    /// Bring the sources' indexes up to date.
    Ingest(ingest::Ingest),
    /// Learn anew what a source's scores mean, from labelled queries too.
    Calibrate(calibrate::Calibrate),
    /// Measure retrieval, and the gate, on labelled queries in BEIR form.
    Evaluate(evaluate::Evaluate),
    /// Validate the configuration without serving.
    Check(check::Check),
    /// See and decide who may do what.
    Access(access::Access),
    /// Ask a running service whether it is ready: exit code 0 if it is.
    Health(health::Health),
}

/// Why a command did not do what it was told.
#[derive(Debug, thiserror::Error)]
enum CliError {
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// An argument or a setting is wrong.
    #[error("{0}")]
    Usage(String),
    /// It was tried and failed.
    #[error("{0}")]
    Failed(String),
}

impl CliError {
    fn failed(doing: &str, error: impl std::fmt::Display) -> Self {
        Self::Failed(format!("{doing}: {error}"))
    }
}

/// Runs the command line.
pub fn run() -> ExitCode {
    let arguments = Arguments::parse();
    // A second provider is never installed before this line, so it cannot fail.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report(&CliError::failed("starting", error)),
    };
    let result = runtime.block_on(dispatch(arguments));
    // What still works in the background, such as an ingest that waits for a slow service, survives being
    // cut off at any moment; whoever stopped us does not want to wait for it.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

async fn dispatch(arguments: Arguments) -> Result<(), CliError> {
    let settings = || -> Result<Settings, CliError> { Ok(config::load(&arguments.config)?) };
    match arguments.command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(settings()?).await,
        Command::Ask(ask) => ask::run(ask, settings).await,
        Command::Ingest(ingest) => ingest::run(ingest, settings()?).await,
        Command::Calibrate(calibrate) => calibrate::run(calibrate, settings()?).await,
        Command::Evaluate(evaluate) => evaluate::run(evaluate, settings).await,
        Command::Check(check) => check::run(&check, settings()?),
        Command::Access(access) => access::run(access, settings),
        Command::Health(health) => health::run(&health, settings).await,
    }
}

/// Says what went wrong; the exit code that goes with it.
fn report(error: &CliError) -> ExitCode {
    complain(&format!("askback: {error}"));
    ExitCode::from(match error {
        CliError::Config(_) | CliError::Usage(_) => 2,
        CliError::Failed(_) => 1,
    })
}

/// A line for people or scripts. A reader that went away is no error of ours.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A line on standard error.
fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
