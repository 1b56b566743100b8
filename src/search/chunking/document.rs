//! Documents and passages as values.

/// A document as a reader understood it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Id within its source, stable across ingests: the path relative to the source's root with
    /// `/` separators, or the record's `_id`.
    pub id: String,
    /// Title for people; never empty.
    pub title: String,
    /// Where a person can read the original, if the document says so.
    pub url: Option<String>,
    /// The content in reading order.
    pub blocks: Vec<Block>,
}

/// A piece of a document that should not be cut without need: a paragraph, list, table, code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Headings above the block, outermost first, without the document's title.
    pub headings: Vec<String>,
    /// What it is.
    pub kind: BlockKind,
    /// Its text, as a person would read it.
    pub text: String,
}

/// Kinds of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockKind {
    /// Running text.
    Prose,
    /// A list.
    List,
    /// A table, one row a line.
    Table,
    /// Source code or preformatted text; line breaks matter.
    Code,
}

/// A passage: what is indexed, returned and referred to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Headings above it, outermost first, without the document's title.
    pub headings: Vec<String>,
    /// Its text.
    pub text: String,
}
