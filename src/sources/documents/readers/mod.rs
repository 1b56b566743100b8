//! From the bytes of a file to documents: one reader per format, chosen by the file's ending.
//! Knows nothing of passages or the index.

mod code;
mod html;
mod jsonl;
mod markdown;
mod record;
mod text;

use crate::{search::chunking::Document, text::excerpt};

/// What a file held.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    /// Its documents, in order.
    pub(super) documents: Vec<Document>,
    /// What could not be read, and why.
    pub(super) warnings: Vec<String>,
}

/// Longest heading kept, in characters: every passage below repeats it.
const MAX_HEADING: usize = 160;

/// Longest document id, in bytes: references stay short enough to pass around.
const MAX_ID: usize = 512;

/// Longest title of what was contributed, in characters.
const MAX_TITLE: usize = 300;

/// Characters of a text that stand for its title where it has none.
const BEGINNING: usize = 60;

/// Reads a file. `path` is relative to the source's root, with `/` separators.
///
/// # Errors
/// The message says why nothing could be read.
pub(super) fn read(path: &str, bytes: &[u8]) -> Result<Read, String> {
    if bytes.contains(&0) {
        return Err(format!(
            "{path}: looks binary (it holds NUL bytes); exclude it, or save it as UTF-8 text"
        ));
    }
    let (content, lossy) = decode(bytes);
    let extension = path
        .rsplit('/')
        .next()
        .and_then(|name| name.rsplit_once('.'))
        .map(|(_, ending)| ending.to_lowercase());
    let mut read = match extension.as_deref() {
        Some("md" | "markdown") => one(markdown::read(path, &content)),
        Some("html" | "htm") if html::is_too_deep(&content) => {
            return Err(format!("{path}: nests elements more than {} deep; skipped", html::MAX_NESTING));
        }
        Some("html" | "htm") => one(html::read(path, &content)),
        Some("jsonl" | "ndjson") => jsonl::read(path, &content),
        Some(ending) if code::knows(ending) => one(code::read(path, &content)),
        _ => one(text::read(path, &content)),
    };
    if lossy {
        read.warnings.push(format!("{path}: is not valid UTF-8; what could not be read was replaced"));
    }
    read.documents.retain(|document| match unsound(&document.id) {
        Some(why) => {
            let shown = crate::text::excerpt(&document.id, 60);
            read.warnings.push(format!("{path}: the id “{shown}” {why}; skipped"));
            false
        }
        None => true,
    });
    Ok(read)
}

/// What is wrong with a document's id, if anything.
fn unsound(id: &str) -> Option<String> {
    if id.is_empty() || id.len() > MAX_ID || id.chars().any(char::is_control) {
        return Some(format!("is empty, longer than {MAX_ID} bytes, or holds control characters"));
    }
    id.starts_with('~').then(|| "begins with `~`, as only what agents contribute does".to_owned())
}

/// Reads what was contributed under `id`: a JSON object as a record, anything else as Markdown. The
/// title its writer gave counts, then the one in the content, then how the text begins.
pub(super) fn contributed(id: &str, title: Option<&str>, content: &str) -> Document {
    let content = clean(content);
    let mut document = record::read(&content).unwrap_or_else(|| markdown::read("", &content));
    let beginning = document.blocks.first().map(|block| block.text.as_str()).unwrap_or_default();
    let titles = [title.unwrap_or_default(), &document.title].map(|title| excerpt(&clean(title), MAX_TITLE));
    let title = titles.into_iter().find(|title| !title.is_empty());
    document.title = title.unwrap_or_else(|| excerpt(beginning, BEGINNING));
    document.id = id.to_owned();
    // Where an agent says it can be read is not where the source's owner says so.
    document.url = None;
    document
}

fn one(document: Document) -> Read {
    Read { documents: vec![document], warnings: Vec::new() }
}

/// Text without a byte order mark, with line feeds only, and without control characters. The
/// second value says whether bytes had to be replaced.
fn decode(bytes: &[u8]) -> (String, bool) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let lossy = matches!(text, std::borrow::Cow::Owned(_));
    (clean(&text), lossy)
}

/// Line feeds only, and no control characters.
fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

/// A title from a file's name: `guides/getting_started.txt` → `Getting started`.
fn title_of(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let words = stem.replace(['_', '-'], " ");
    let mut letters = words.trim().chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests;
