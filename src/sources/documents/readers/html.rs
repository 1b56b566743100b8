//! HTML: what a reader would see of the main content.

use std::collections::HashMap;

use scraper::{Html, Node, node::Element};

use super::{MAX_HEADING, title_of};
use crate::{
    search::chunking::{Block, BlockKind, Document},
    text::excerpt,
};

/// Elements whose content is not part of the text.
const DROPPED: &[&str] =
    &["script", "style", "nav", "footer", "aside", "template", "noscript", "head", "svg", "iframe"];

/// Elements that start a block of their own.
const BLOCKS: &[&str] = &[
    "p",
    "ul",
    "ol",
    "dl",
    "table",
    "pre",
    "blockquote",
    "div",
    "section",
    "article",
    "main",
    "body",
    "header",
    "figure",
    "figcaption",
    "details",
    "summary",
];

/// Deepest nesting read, in elements that are open at once. Parsing takes time that grows with the
/// square of it, so a made-up file of a megabyte could otherwise hold up an ingest for minutes.
pub(super) const MAX_NESTING: usize = 10_000;

/// Whether more elements may be open at once than are read. Counts tags by name without parsing, so
/// that an end tag only closes what is open: elements whose end tags are left out count as open,
/// which a real page never has so many of.
pub(super) fn is_too_deep(content: &str) -> bool {
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut depth = 0usize;
    for tag in content.split('<').skip(1) {
        let (closes, name) = tag.strip_prefix('/').map_or((false, tag), |name| (true, name));
        let length = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len()).min(32);
        let name = name.get(..length).unwrap_or_default();
        if name.is_empty() {
            continue;
        }
        let count = open.entry(name).or_default();
        if !closes {
            *count += 1;
            depth += 1;
        } else if *count > 0 {
            *count -= 1;
            depth -= 1;
        }
        if depth > MAX_NESTING {
            return true;
        }
    }
    false
}

pub(super) fn read(path: &str, content: &str) -> Document {
    let html = Html::parse_document(content);
    let mut outline = Outline::default();
    let mut dropped = 0usize;
    // Edges instead of recursion: nesting in the file costs no stack.
    for edge in html.tree.root().traverse() {
        match edge {
            ego_tree::iter::Edge::Open(node) => match node.value() {
                Node::Element(element) => {
                    outline.note(element);
                    if DROPPED.contains(&element.name()) {
                        dropped += 1;
                    } else if dropped == 0 {
                        outline.open(element.name());
                    }
                }
                Node::Text(text) if dropped == 0 => outline.text(text),
                _ => {}
            },
            ego_tree::iter::Edge::Close(node) => {
                if let Node::Element(element) = node.value() {
                    if DROPPED.contains(&element.name()) {
                        dropped = dropped.saturating_sub(1);
                    } else if dropped == 0 {
                        outline.close(element.name());
                    }
                }
            }
        }
    }
    outline.flush();
    let in_head = html
        .tree
        .values()
        .any(|node| node.as_element().is_some_and(|element| element.name() == "title"))
        .then(|| head_title(&html))
        .flatten();
    let title = in_head.or(outline.first_h1.clone()).unwrap_or_else(|| title_of(path));
    let first = outline.first_h1;
    let blocks = outline
        .blocks
        .into_iter()
        .map(|mut block| {
            if block
                .headings
                .first()
                .is_some_and(|heading| *heading == title || Some(heading) == first.as_ref())
            {
                block.headings.remove(0);
            }
            block
        })
        .collect();
    Document { id: path.to_owned(), title, url: outline.canonical, blocks }
}

fn head_title(html: &Html) -> Option<String> {
    let node =
        html.tree.nodes().find(|node| node.value().as_element().is_some_and(|e| e.name() == "title"))?;
    let text: String =
        node.children().filter_map(|child| child.value().as_text().map(|text| text.to_string())).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

#[derive(Default)]
struct Outline {
    blocks: Vec<Block>,
    canonical: Option<String>,
    first_h1: Option<String>,
    headings: Vec<(u8, String)>,
    text: String,
    kind: Option<BlockKind>,
    /// Open `pre` elements: white space counts inside.
    preformatted: usize,
    cells: usize,
}

fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

impl Outline {
    fn note(&mut self, element: &Element) {
        if element.name() == "link" && element.attr("rel") == Some("canonical") {
            self.canonical = element.attr("href").filter(|href| href.starts_with("http")).map(str::to_owned);
        }
    }

    fn open(&mut self, name: &str) {
        match name {
            "li" | "dt" | "dd" => self.line(if name == "dd" { "  " } else { "- " }),
            "tr" => {
                self.cells = 0;
                self.line("");
            }
            "td" | "th" => {
                if self.cells > 0 {
                    self.text.push_str(" | ");
                }
                self.cells += 1;
            }
            "br" => self.text.push('\n'),
            _ if heading_level(name).is_some() => self.flush(),
            _ if BLOCKS.contains(&name) && self.kind.is_none() => {
                self.flush();
                self.kind = match name {
                    "ul" | "ol" | "dl" => Some(BlockKind::List),
                    "table" => Some(BlockKind::Table),
                    "pre" => Some(BlockKind::Code),
                    "p" | "blockquote" | "figcaption" => Some(BlockKind::Prose),
                    _ => None,
                };
            }
            _ => {}
        }
        if name == "pre" {
            self.preformatted += 1;
        }
    }

    fn close(&mut self, name: &str) {
        if name == "pre" {
            self.preformatted = self.preformatted.saturating_sub(1);
        }
        if let Some(level) = heading_level(name) {
            let heading = excerpt(&std::mem::take(&mut self.text), MAX_HEADING);
            self.headings.retain(|(above, _)| *above < level);
            if level == 1 && self.first_h1.is_none() {
                self.first_h1 = Some(heading.clone());
            }
            if !heading.is_empty() {
                self.headings.push((level, heading));
            }
            return;
        }
        let ends = match self.kind {
            Some(BlockKind::List) => matches!(name, "ul" | "ol" | "dl"),
            Some(BlockKind::Table) => name == "table",
            Some(BlockKind::Code) => name == "pre",
            _ => BLOCKS.contains(&name),
        };
        if ends {
            self.flush();
        }
    }

    fn line(&mut self, lead: &str) {
        if !self.text.trim().is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(lead);
    }

    fn text(&mut self, text: &str) {
        if self.preformatted > 0 {
            self.text.push_str(text);
            return;
        }
        let starts_apart = text.starts_with(char::is_whitespace);
        for (n, word) in text.split_whitespace().enumerate() {
            if (n > 0 || starts_apart) && !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
            self.text.push_str(word);
        }
        if text.ends_with(char::is_whitespace) && !self.text.is_empty() && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let kind = self.kind.take().unwrap_or(BlockKind::Prose);
        let text = text.trim_matches('\n').trim_end();
        if !text.trim().is_empty() {
            let headings = self.headings.iter().map(|(_, heading)| heading.clone()).collect();
            self.blocks.push(Block { headings, kind, text: text.to_owned() });
        }
    }
}
