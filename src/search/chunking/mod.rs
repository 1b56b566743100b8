//! From a document's structure to passages small enough to embed and big enough to answer.
//! Knows neither file formats nor how passages are indexed.

mod document;
mod split;

pub use document::{Block, BlockKind, Chunk, Document};

use split::{cost, split};

/// What an embedding keeps for its special tokens and for what was miscounted.
const SPARE: usize = 16;

/// How big passages get, in tokens of the embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Paragraphs are packed together up to this.
    pub target: usize,
    /// Nothing is longer than this, title and headings included. The embedding reads 256 with
    /// its two special tokens.
    pub max: usize,
    /// Sections shorter than this join the one that follows under the same parent.
    pub min: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { target: 180, max: 240, min: 40 }
    }
}

impl Limits {
    /// The limits for an embedding that reads `max_tokens` of a text: the default ones for 256.
    pub fn reading(max_tokens: usize) -> Self {
        let max = max_tokens.saturating_sub(SPARE).max(SPARE);
        Self { target: max * 3 / 4, max, min: max / 6 }
    }
}

/// Cuts a document into passages, in reading order. Every character of its blocks that is not
/// white space ends up in exactly one passage. A document that fits into one is not cut.
pub fn chunk(document: &Document, limits: &Limits, count_tokens: &dyn Fn(&str) -> usize) -> Vec<Chunk> {
    let title = count_tokens(&document.title);
    let mut parts: Vec<Part> = Vec::new();
    for block in &document.blocks {
        if block.text.trim().is_empty() {
            continue;
        }
        let path: usize = block.headings.iter().map(|heading| count_tokens(heading)).sum();
        // A title longer than the passage is cut off by the embedding: no reason to leave no room for text.
        let room = limits.max.saturating_sub(title + path).max(limits.max / 2);
        for text in split(&block.text, block.kind, room, count_tokens) {
            let cost = cost(&text, count_tokens);
            parts.push(Part { headings: block.headings.clone(), text, cost, room });
        }
    }
    let headings = |part: &Part| part.headings.iter().map(|heading| count_tokens(heading)).sum::<usize>();
    let whole: usize = parts.iter().map(|part| part.cost + headings(part)).sum();
    // Nothing is gained by cutting what fits as it is.
    let fits = whole + title <= limits.max;
    let mut chunks: Vec<Part> = Vec::new();
    for part in parts {
        match chunks.last_mut() {
            Some(last) if fits || joins(last, &part, limits) => last.join(part),
            _ => chunks.push(part),
        }
    }
    if chunks.is_empty() {
        return vec![Chunk { headings: Vec::new(), text: document.title.clone() }];
    }
    chunks.into_iter().map(|part| Chunk { headings: part.headings, text: part.text }).collect()
}

/// What is indexed of a passage: where it stands, then what it says.
pub fn indexed_text(title: &str, chunk: &Chunk) -> String {
    let mut lines: Vec<&str> = Vec::new();
    // A title made from the text's beginning would only say it twice.
    if !chunk.text.starts_with(title.trim_end_matches('…')) {
        lines.push(title);
    }
    lines.extend(chunk.headings.iter().map(String::as_str));
    lines.push(&chunk.text);
    lines.join("\n")
}

/// A passage in the making.
struct Part {
    headings: Vec<String>,
    text: String,
    cost: usize,
    room: usize,
}

fn joins(last: &Part, next: &Part, limits: &Limits) -> bool {
    if last.cost + next.cost + next.headings.len() > limits.target.min(last.room) {
        return false;
    }
    let shared = shared(&last.headings, &next.headings);
    let same_section = shared == last.headings.len() && shared == next.headings.len();
    // A few words on their own answer nothing; with what follows under the same heading they may.
    let siblings = shared + 1 >= next.headings.len().min(last.headings.len());
    same_section || (last.cost < limits.min && siblings)
}

fn shared(a: &[String], b: &[String]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

impl Part {
    /// Appends `next`; headings that the two do not share become lines of the text.
    fn join(&mut self, next: Self) {
        let shared = shared(&self.headings, &next.headings);
        let own = self.headings.split_off(shared);
        if !own.is_empty() {
            self.text = format!("{}\n{}", own.join("\n"), self.text);
        }
        for heading in next.headings.iter().skip(shared) {
            self.text.push('\n');
            self.text.push_str(heading);
        }
        self.text.push_str(if next.headings.len() > shared { "\n" } else { "\n\n" });
        self.text.push_str(&next.text);
        self.cost += next.cost + own.len() + next.headings.len() - shared;
        self.room = self.room.min(next.room);
    }
}

#[cfg(test)]
mod tests;
