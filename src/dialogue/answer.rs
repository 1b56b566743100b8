//! Answers: what a client sent, read without trusting a byte of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Asked, NONE_OF_THESE};
use crate::text::is_unprintable;

/// Longest free text accepted from a person, in characters: by forms, answers and arguments alike.
pub const MAX_TEXT: u32 = 1000;

/// What came back for a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Something usable.
    Accepted(Reply),
    /// Accepted with nothing usable, malformed, or missing.
    Unusable,
    /// Said no. Clients decline by themselves too: never read as the user's refusal.
    Declined,
    /// Closed without an answer.
    Cancelled,
    /// Nothing came in time.
    TimedOut,
    /// The client failed, or went away.
    Failed,
}

/// The usable part of an accepted answer: at least one of the two is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The reference of the chosen option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Free text, trimmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Answer {
    /// Reads an elicitation result, `{action, content}`, as the answer to `asked`.
    ///
    /// Whatever is not of that form is [`Answer::Unusable`], whatever its JSON type. An option
    /// that was not offered is no choice. `asked` with no options (what was asked is unknown
    /// because the client dropped the state) takes any reference: it is looked up like any argument.
    pub fn read(result: &Value, asked: &Asked) -> Self {
        match result.get("action").and_then(Value::as_str) {
            Some("accept") => Self::accepted(result.get("content"), asked),
            Some("decline") => Self::Declined,
            Some("cancel") => Self::Cancelled,
            _ => Self::Unusable,
        }
    }

    fn accepted(content: Option<&Value>, asked: &Asked) -> Self {
        let field = |name: &str| content.and_then(|content| content.get(name)).and_then(Value::as_str);
        let choice = field("choice")
            .filter(|choice| *choice != NONE_OF_THESE && choice.len() <= 1024)
            .filter(|choice| asked.options.is_empty() || asked.options.iter().any(|option| option == choice));
        let text = field("clarification").and_then(usable_text);
        if choice.is_none() && text.is_none() {
            return Self::Unusable;
        }
        Self::Accepted(Reply { choice: choice.map(str::to_owned), text })
    }
}

/// Trims; refuses what is empty, has no letter or digit, or is over the limit the form states.
fn usable_text(text: &str) -> Option<String> {
    let text: String = text.chars().map(|c| if is_unprintable(c) { ' ' } else { c }).collect();
    let text = text.trim();
    let usable = text.chars().any(char::is_alphanumeric) && text.chars().count() <= MAX_TEXT as usize;
    usable.then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{confidence::gate::Reason, dialogue::Form};
    use rstest::rstest;
    use serde_json::json;

    fn asked(options: &[&str]) -> Asked {
        Asked {
            form: Form::Choice,
            slot: None,
            reason: Some(Reason::Ambiguous),
            subject: String::new(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
        }
    }

    #[rstest]
    #[case::text(json!({"action": "accept", "content": {"clarification": " the cap \n"}}), None, Some("the cap"))]
    #[case::choice(json!({"action": "accept", "content": {"choice": "a/b#1"}}), Some("a/b#1"), None)]
    #[case::both(json!({"action": "accept", "content": {"choice": "a/b#1", "clarification": "x"}}), Some("a/b#1"), Some("x"))]
    #[case::none_but_words(json!({"action": "accept", "content": {"choice": "none", "clarification": "x"}}), None, Some("x"))]
    fn usable(#[case] result: Value, #[case] choice: Option<&str>, #[case] text: Option<&str>) {
        let expected = Reply { choice: choice.map(str::to_owned), text: text.map(str::to_owned) };
        assert_eq!(Answer::read(&result, &asked(&["a/b#1", "a/c#2"])), Answer::Accepted(expected));
    }

    #[rstest]
    #[case(json!(null))]
    #[case(json!(true))]
    #[case(json!(3.5))]
    #[case(json!("accept"))]
    #[case(json!([]))]
    #[case(json!({}))]
    #[case(json!({"action": 1}))]
    #[case(json!({"action": "maybe"}))]
    #[case(json!({"action": "accept"}))]
    #[case(json!({"action": "accept", "content": null}))]
    #[case(json!({"action": "accept", "content": []}))]
    #[case(json!({"action": "accept", "content": "text"}))]
    #[case(json!({"action": "accept", "content": {}}))]
    #[case(json!({"action": "accept", "content": {"choice": 1, "clarification": {"a": "b"}}}))]
    #[case(json!({"action": "accept", "content": {"choice": "not/offered#1"}}))]
    #[case(json!({"action": "accept", "content": {"choice": "none"}}))]
    #[case(json!({"action": "accept", "content": {"clarification": "  \u{0} "}}))]
    #[case(json!({"action": "accept", "content": {"clarification": "?!"}}))]
    #[case(json!({"action": "accept", "content": {"clarification": "x".repeat(1001)}}))]
    fn unusable(#[case] result: Value) {
        assert_eq!(Answer::read(&result, &asked(&["a/b#1"])), Answer::Unusable);
    }

    #[test]
    fn the_other_actions() {
        assert_eq!(Answer::read(&json!({"action": "decline"}), &asked(&[])), Answer::Declined);
        assert_eq!(
            Answer::read(&json!({"action": "cancel", "content": {"choice": "a/b#1"}}), &asked(&[])),
            Answer::Cancelled
        );
    }

    #[test]
    fn without_state_any_reference_is_a_choice_like_an_argument() {
        let result = json!({"action": "accept", "content": {"choice": "x/y#9"}});
        let expected = Reply { choice: Some("x/y#9".into()), text: None };
        assert_eq!(Answer::read(&result, &asked(&[])), Answer::Accepted(expected));
    }
}
