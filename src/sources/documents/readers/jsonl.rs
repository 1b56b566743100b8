//! JSON Lines: one document a line, `{_id, title, text}` and optionally `url`.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::{BEGINNING, Read, clean, text::paragraphs};
use crate::{search::chunking::Document, text::excerpt};

#[derive(Deserialize)]
struct Record {
    _id: Option<Value>,
    /// Read where there is no `_id`.
    id: Option<Value>,
    title: Option<String>,
    text: Option<String>,
    url: Option<String>,
}

/// A bad line costs itself, not the file.
pub(super) fn read(path: &str, content: &str) -> Read {
    let mut read = Read::default();
    let mut seen = HashSet::new();
    for (n, line) in content.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        match document(line) {
            Ok(document) if seen.insert(document.id.clone()) => read.documents.push(document),
            Ok(document) => read.warnings.push(format!(
                "{path}:{}: the id “{}” was used before; skipped",
                n + 1,
                excerpt(&document.id, 60)
            )),
            Err(why) => read.warnings.push(format!("{path}:{}: {why}; skipped", n + 1)),
        }
    }
    read
}

fn document(line: &str) -> Result<Document, String> {
    let record: Record = serde_json::from_str(line).map_err(|error| {
        format!("is not an object with _id, title and text ({})", excerpt(&error.to_string(), 120))
    })?;
    let id = match record._id.or(record.id) {
        Some(Value::String(id)) => id,
        Some(Value::Number(id)) => id.to_string(),
        Some(_) => return Err("_id is neither text nor a number".to_owned()),
        None => return Err("has no _id".to_owned()),
    };
    // Escapes in JSON can bring back what was cleaned out of the file.
    let text = clean(&record.text.unwrap_or_default());
    let title = [excerpt(&record.title.unwrap_or_default(), 300), excerpt(&text, BEGINNING)];
    let title = title.into_iter().find(|title| !title.is_empty()).unwrap_or_else(|| id.clone());
    let url = record.url.filter(|url| url.starts_with("https://") || url.starts_with("http://"));
    Ok(Document { title, id, url, blocks: paragraphs(&text) })
}
