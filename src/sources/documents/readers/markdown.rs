//! Markdown (CommonMark with tables and footnotes).

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{MAX_HEADING, title_of};
use crate::{
    search::chunking::{Block, BlockKind, Document},
    text::excerpt,
};

pub(super) fn read(path: &str, content: &str) -> Document {
    let (front, body) = front_matter(content);
    let mut outline = Outline::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_STRIKETHROUGH;
    for event in Parser::new_ext(body, options) {
        outline.take(event);
    }
    let Outline { blocks, first_h1, .. } = outline;
    let title = front.title.or(first_h1.clone()).unwrap_or_else(|| title_of(path));
    let blocks = blocks
        .into_iter()
        .map(|mut block| {
            // The heading that is the title stands above everything; repeating it says nothing.
            if block
                .headings
                .first()
                .is_some_and(|heading| *heading == title || Some(heading) == first_h1.as_ref())
            {
                block.headings.remove(0);
            }
            block
        })
        .collect();
    Document { id: path.to_owned(), title, url: front.url, blocks }
}

#[derive(Default)]
struct FrontMatter {
    title: Option<String>,
    url: Option<String>,
}

/// The simple `key: value` lines of a block between `---` at the very start.
fn front_matter(content: &str) -> (FrontMatter, &str) {
    let mut front = FrontMatter::default();
    let Some((block, body)) = content.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"))
    else {
        return (front, content);
    };
    for line in block.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim().trim_matches(['"', '\'']).trim();
        if value.is_empty() {
            continue;
        }
        match key.trim() {
            "title" => front.title = Some(value.to_owned()),
            "url" => front.url = Some(value.to_owned()),
            _ => {}
        }
    }
    (front, body)
}

/// Turns events into blocks under headings. Keeps counters instead of recursing: nesting in the
/// file costs no stack.
#[derive(Default)]
struct Outline {
    blocks: Vec<Block>,
    first_h1: Option<String>,
    headings: Vec<(HeadingLevel, String)>,
    text: String,
    /// Open containers (paragraphs, lists, quotes, tables …).
    depth: usize,
    lists: usize,
    kind: Option<BlockKind>,
    cells: usize,
}

impl Outline {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(&tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text) | Event::Code(text) => self.text.push_str(&text),
            Event::SoftBreak | Event::HardBreak => self.text.push('\n'),
            // Markup says nothing a reader would see.
            Event::Html(_) | Event::InlineHtml(_) | Event::Rule => {}
            Event::FootnoteReference(_) | Event::TaskListMarker(_) => {}
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text.push_str(&text),
        }
    }

    fn open(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.flush();
                return;
            }
            Tag::Item => {
                if !self.text.is_empty() && !self.text.ends_with('\n') {
                    self.text.push('\n');
                }
                self.text.extend(std::iter::repeat_n(' ', 2 * self.lists.saturating_sub(1).min(8)));
                self.text.push_str("- ");
                return;
            }
            Tag::TableCell => {
                if self.cells > 0 {
                    self.text.push_str(" | ");
                }
                self.cells += 1;
                return;
            }
            Tag::TableRow | Tag::TableHead => {
                self.cells = 0;
                return;
            }
            Tag::List(_) => self.lists += 1,
            Tag::Paragraph
            | Tag::BlockQuote(_)
            | Tag::CodeBlock(_)
            | Tag::Table(_)
            | Tag::FootnoteDefinition(_) => {}
            _ => return,
        }
        if self.depth == 0 {
            self.kind = Some(match tag {
                Tag::List(_) => BlockKind::List,
                Tag::CodeBlock(_) => BlockKind::Code,
                Tag::Table(_) => BlockKind::Table,
                _ => BlockKind::Prose,
            });
        } else if !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
            self.text.push('\n');
        }
        self.depth += 1;
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let heading = excerpt(&std::mem::take(&mut self.text), MAX_HEADING);
                self.headings.retain(|(above, _)| *above < level);
                if level == HeadingLevel::H1 && self.first_h1.is_none() {
                    self.first_h1 = Some(heading.clone());
                }
                if !heading.is_empty() {
                    self.headings.push((level, heading));
                }
                return;
            }
            TagEnd::TableRow | TagEnd::TableHead => {
                self.text.push('\n');
                return;
            }
            TagEnd::List(_) => self.lists = self.lists.saturating_sub(1),
            TagEnd::Paragraph
            | TagEnd::BlockQuote(_)
            | TagEnd::CodeBlock
            | TagEnd::Table
            | TagEnd::FootnoteDefinition => {}
            _ => return,
        }
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let text = text.trim_matches('\n').trim_end();
        let kind = self.kind.take().unwrap_or(BlockKind::Prose);
        if !text.trim().is_empty() {
            let headings = self.headings.iter().map(|(_, heading)| heading.clone()).collect();
            self.blocks.push(Block { headings, kind, text: text.to_owned() });
        }
    }
}
