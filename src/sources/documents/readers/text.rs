//! Plain text: paragraphs between blank lines.

use super::title_of;
use crate::search::chunking::{Block, BlockKind, Document};

pub(super) fn read(path: &str, content: &str) -> Document {
    Document { id: path.to_owned(), title: title_of(path), url: None, blocks: paragraphs(content) }
}

/// The paragraphs of running text.
pub(super) fn paragraphs(content: &str) -> Vec<Block> {
    content
        .split("\n\n")
        .map(|paragraph| paragraph.trim_matches('\n').trim_end())
        .filter(|paragraph| !paragraph.trim().is_empty())
        .map(|paragraph| Block { headings: Vec::new(), kind: BlockKind::Prose, text: paragraph.to_owned() })
        .collect()
}
