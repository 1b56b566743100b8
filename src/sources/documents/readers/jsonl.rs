//! JSON Lines: one document a line, `{_id, title, text}` and optionally `url`.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::{Read, text::paragraphs};
use crate::search::chunking::Document;

#[derive(Deserialize)]
struct Record {
    #[serde(alias = "id")]
    _id: Value,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
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
                crate::text::excerpt(&document.id, 60)
            )),
            Err(why) => read.warnings.push(format!("{path}:{}: {why}; skipped", n + 1)),
        }
    }
    read
}

fn document(line: &str) -> Result<Document, String> {
    let record: Record = serde_json::from_str(line).map_err(|error| {
        format!(
            "is not an object with _id, title and text ({})",
            crate::text::excerpt(&error.to_string(), 120)
        )
    })?;
    let id = match record._id {
        Value::String(id) => id,
        Value::Number(id) => id.to_string(),
        _ => return Err("_id is neither text nor a number".to_owned()),
    };
    let title = record.title.map(|title| title.trim().to_owned()).filter(|title| !title.is_empty());
    Ok(Document {
        title: title.unwrap_or_else(|| id.clone()),
        id,
        url: record.url,
        blocks: paragraphs(&record.text),
    })
}
