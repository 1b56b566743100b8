//! Questions, free of any protocol.

use serde::{Deserialize, Serialize};

use super::Asked;
use crate::confidence::gate::Reason;

/// The value an option list offers to whoever wants none of its options.
pub const NONE_OF_THESE: &str = "none";

/// Something to ask a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What the form asks for.
    pub form: Form,
    /// Which part of the query it is about, where several parts are asked about at a time: a short word of
    /// lower-case letters and digits.
    pub slot: Option<String>,
    /// Why it is asked.
    pub reason: Reason,
    /// What the person reads: plain text, already cleaned of anything retrieved that could mislead.
    pub message: String,
    /// The query the question is about, normalised: the same one is not asked twice.
    pub subject: String,
    /// What can be chosen; empty for [`Form::Clarification`].
    pub options: Vec<Choice>,
}

/// What a form asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// One required text.
    Clarification,
    /// One of some options, or a text.
    Choice,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Self::Clarification => "clarification",
            Self::Choice => "choice",
        }
    }

    /// The key its answer comes back under.
    pub fn key(self, slot: Option<&str>) -> String {
        match slot {
            Some(slot) => format!("{}_{slot}", self.name()),
            None => self.name().to_owned(),
        }
    }

    /// What a key stands for, if it is one.
    pub fn of_key(key: &str) -> Option<(Self, Option<String>)> {
        [Self::Choice, Self::Clarification].into_iter().find_map(|form| {
            let rest = key.strip_prefix(form.name())?;
            if rest.is_empty() {
                return Some((form, None));
            }
            let slot = rest.strip_prefix('_')?;
            let plain = slot.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
            (plain && (1..=16).contains(&slot.len())).then(|| (form, Some(slot.to_owned())))
        })
    }
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Choice {
    /// The reference it stands for.
    pub reference: String,
    /// What a person reads: distinct among the options, at most 120 characters.
    pub label: String,
}

impl Question {
    /// What the state has to remember of the question.
    pub fn asked(&self) -> Asked {
        Asked {
            form: self.form,
            slot: self.slot.clone(),
            reason: Some(self.reason),
            subject: super::state::digest(self.subject.as_bytes()),
            options: self.options.iter().map(|option| option.reference.clone()).collect(),
        }
    }
}
