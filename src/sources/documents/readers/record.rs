//! One contributed JSON object: `title` and `text` as they are, every other field as a line of its own.

use serde_json::{Map, Value};

use super::{clean, text::paragraphs};
use crate::search::chunking::{Block, BlockKind, Document};

/// Reads `content` if it is a JSON object.
pub(super) fn read(content: &str) -> Option<Document> {
    let mut fields: Map<String, Value> = serde_json::from_str(content).ok()?;
    let mut text = |key: &str| match fields.get(key) {
        // Escapes in JSON can bring back what was cleaned out of the content.
        Some(Value::String(text)) => Some(clean(text)).inspect(|_| drop(fields.remove(key))),
        _ => None,
    };
    let title = text("title").unwrap_or_default();
    let mut blocks = paragraphs(&text("text").unwrap_or_default());
    let lines: Vec<String> = fields.iter().filter_map(|(key, value)| line(key, value)).collect();
    if !lines.is_empty() {
        blocks.push(Block { headings: Vec::new(), kind: BlockKind::List, text: lines.join("\n") });
    }
    Some(Document { id: String::new(), title, url: None, blocks })
}

/// `key: value`; nothing for a field without a value.
fn line(key: &str, value: &Value) -> Option<String> {
    let said = match value {
        Value::Null => return None,
        Value::String(text) => clean(text),
        other => clean(&other.to_string()),
    };
    Some(format!("{}: {said}", clean(key)))
}
