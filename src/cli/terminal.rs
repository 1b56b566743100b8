//! Putting a service's questions to the person at the terminal.

use std::io::{BufRead, Write};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction},
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use super::ask::identity;

/// A client whose user sits at the terminal.
#[derive(Debug, Clone, Default)]
pub(super) struct Terminal;

impl ClientHandler for Terminal {
    fn get_info(&self) -> ClientConfig {
        identity()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let schema = serde_json::to_value(requested_schema).unwrap_or_default();
        // Reading a line blocks for as long as a person thinks.
        let content = tokio::task::spawn_blocking(move || {
            let stdin = std::io::stdin().lock();
            fill_in(&message, &schema, stdin, &mut std::io::stderr())
        })
        .await
        .unwrap_or(None);
        Ok(match content {
            Some(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content),
            None => ElicitResult::new(ElicitationAction::Decline),
        })
    }
}

/// Asks for each field of a form; `None` if the person gives nothing at all.
fn fill_in(message: &str, schema: &Value, mut input: impl BufRead, output: &mut impl Write) -> Option<Value> {
    let _ = writeln!(output, "\n{message}");
    let mut content = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object)?;
    // Options first: who picks one need not write.
    let options = properties.get("choice").map(options).unwrap_or_default();
    for (n, (_, label)) in options.iter().enumerate() {
        let _ = writeln!(output, "  {}. {label}", n + 1);
    }
    let prompt = if options.is_empty() {
        "In your words (empty to go without): "
    } else {
        "A number, or your own words (empty to go without): "
    };
    let _ = write!(output, "{prompt}");
    let _ = output.flush();
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    let line = line.trim();
    if line.is_empty() {
        return None;
    }
    let picked = line.parse::<usize>().ok().and_then(|n| options.get(n.checked_sub(1)?));
    match (picked, options.last()) {
        (Some((value, _)), Some((none, _))) if value == none => {
            content.insert("choice".to_owned(), json!(value));
            let _ = write!(output, "In your own words: ");
            let _ = output.flush();
            let mut words = String::new();
            input.read_line(&mut words).ok()?;
            content.insert("clarification".to_owned(), json!(words.trim()));
        }
        (Some((value, _)), _) => {
            content.insert("choice".to_owned(), json!(value));
        }
        (None, none) => {
            if let Some((none, _)) = none {
                content.insert("choice".to_owned(), json!(none));
            }
            content.insert("clarification".to_owned(), json!(line));
        }
    }
    Some(Value::Object(content))
}

/// The values and labels of a select, however its protocol spells them.
fn options(select: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(titled) = select.get("oneOf").and_then(Value::as_array) {
        return titled
            .iter()
            .filter_map(|option| Some((text(&option["const"])?, text(&option["title"])?)))
            .collect();
    }
    let values = select.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let names = select.get("enumNames").and_then(Value::as_array).cloned().unwrap_or_else(|| values.clone());
    values.iter().zip(&names).filter_map(|(value, name)| Some((text(value)?, text(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice() -> Value {
        json!({"properties": {
            "choice": {"oneOf": [{"const": "s/a#0", "title": "A"}, {"const": "s/b#0", "title": "B"}, {"const": "none", "title": "None"}]},
            "clarification": {"type": "string"},
        }})
    }

    fn answer(schema: &Value, typed: &str) -> Option<Value> {
        fill_in("Which?", schema, typed.as_bytes(), &mut Vec::new())
    }

    #[test]
    fn a_number_picks_and_words_go_to_none_of_these() {
        assert_eq!(answer(&choice(), "2\n"), Some(json!({"choice": "s/b#0"})));
        assert_eq!(
            answer(&choice(), "the other\n"),
            Some(json!({"choice": "none", "clarification": "the other"}))
        );
        assert_eq!(
            answer(&choice(), "3\nmy words\n"),
            Some(json!({"choice": "none", "clarification": "my words"}))
        );
        assert_eq!(answer(&choice(), "\n"), None);
        assert_eq!(answer(&choice(), ""), None);
    }

    #[test]
    fn older_spellings_are_read_too() {
        let schema =
            json!({"properties": {"choice": {"enum": ["s/a#0", "none"], "enumNames": ["A", "None"]}}});
        assert_eq!(answer(&schema, "1\n"), Some(json!({"choice": "s/a#0"})));
    }

    #[test]
    fn a_text_form_takes_numbers_as_words() {
        let schema = json!({"properties": {"clarification": {"type": "string"}}});
        assert_eq!(answer(&schema, "42\n"), Some(json!({"clarification": "42"})));
    }
}
