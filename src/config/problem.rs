//! What can be wrong with settings, said so that it can be put right.

use std::fmt;

/// One thing wrong with one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The key's full path, such as `clarify.wait`.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Problem {
    /// Says what is wrong with `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// Settings that cannot be used. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file is missing, unreadable, or not TOML; or a value has the wrong type.
    #[error("{0}")]
    Unreadable(String),
    /// The values were read and are wrong: all that was found, not just the first.
    #[error("the configuration has problems:{}", list(.0))]
    Invalid(Vec<Problem>),
}

fn list(problems: &[Problem]) -> String {
    problems.iter().fold(String::new(), |text, problem| text + "\n  " + &problem.to_string())
}
