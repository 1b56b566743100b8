//! `askback check`. The settings have been loaded, so they are sound as far as they go; what is
//! left is what only the disk can tell.

use clap::Args;
use serde_json::json;

use super::{CliError, say};
use crate::config::{Problem, Settings};

/// Validate the configuration without serving.
#[derive(Args)]
pub(super) struct Check {
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Check, settings: Settings) -> Result<(), CliError> {
    let mut problems = Vec::new();
    for source in &settings.sources {
        let path = source.settings.get("path").and_then(serde_json::Value::as_str);
        if let Some(path) = path
            && !std::path::Path::new(path).exists()
        {
            problems.push(Problem::new(
                format!("sources[{}].path", source.slug),
                format!("there is no `{path}`; relative paths start at the working directory"),
            ));
        }
    }
    if arguments.json {
        let listed: Vec<_> = problems.iter().map(|p| json!({"key": p.key, "message": p.message})).collect();
        let sources: Vec<_> = settings.sources.iter().map(|source| &source.slug).collect();
        say(&json!({"ok": problems.is_empty(), "sources": sources, "problems": listed}).to_string());
    }
    if !problems.is_empty() {
        return Err(crate::config::ConfigError::Invalid(problems).into());
    }
    if !arguments.json {
        say(&format!("the configuration is sound: {} source(s)", settings.sources.len()));
    }
    Ok(())
}
