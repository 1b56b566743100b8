//! Source code, cut at its top-level items by what can be seen without parsing: a declaration at
//! the start of a line, with the comments and attributes directly above it.

use super::title_of;
use crate::search::chunking::{Block, BlockKind, Document};

/// Endings read as code.
const ENDINGS: &[&str] = &[
    "rs", "py", "js", "mjs", "ts", "tsx", "jsx", "go", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs",
    "rb", "php", "swift", "scala", "sh", "sql", "toml", "yaml", "yml",
];

/// Words that start a declaration in one of these languages, after modifiers.
const DECLARATIONS: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "trait",
    "impl",
    "mod",
    "macro_rules!",
    "def",
    "class",
    "function",
    "interface",
    "type",
    "func",
    "object",
    "record",
    "namespace",
    "module",
    "protocol",
    "extension",
    "create",
    "const",
    "let",
    "var",
];

/// Words that may stand before a declaration.
const MODIFIERS: &[&str] = &[
    "pub",
    "pub(crate)",
    "pub(super)",
    "async",
    "unsafe",
    "export",
    "default",
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "final",
    "abstract",
    "sealed",
    "data",
    "open",
    "override",
    "inline",
    "virtual",
    "declare",
];

pub(super) fn knows(ending: &str) -> bool {
    ENDINGS.contains(&ending)
}

pub(super) fn read(path: &str, content: &str) -> Document {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut blocks = Vec::new();
    let mut item = Item::default();
    let mut above: Vec<&str> = Vec::new();
    for line in content.lines() {
        if let Some(heading) = declaration(line) {
            blocks.extend(item.block());
            item = Item { heading: Some(heading), lines: std::mem::take(&mut above) };
            item.lines.push(line);
        } else if belongs_below(line) {
            above.push(line);
        } else {
            item.lines.append(&mut above);
            item.lines.push(line);
        }
    }
    item.lines.append(&mut above);
    blocks.extend(item.block());
    Document {
        id: path.to_owned(),
        title: if name.is_empty() { title_of(path) } else { name.to_owned() },
        url: None,
        blocks,
    }
}

#[derive(Default)]
struct Item<'a> {
    heading: Option<String>,
    lines: Vec<&'a str>,
}

impl Item<'_> {
    fn block(&self) -> Option<Block> {
        let text = self.lines.join("\n");
        let text = text.trim_matches('\n').trim_end();
        (!text.trim().is_empty()).then(|| Block {
            headings: self.heading.iter().cloned().collect(),
            kind: BlockKind::Code,
            text: text.to_owned(),
        })
    }
}

/// Comments, attributes and decorators at the start of a line introduce what follows.
fn belongs_below(line: &str) -> bool {
    ["//", "#", "/*", " *", "*/", "--", "@", "\"\"\""].iter().any(|lead| line.starts_with(lead))
}

/// The name of the declaration that `line` starts, if it starts one in the first column.
fn declaration(line: &str) -> Option<String> {
    if !line.starts_with(|c: char| c.is_alphabetic()) {
        return None;
    }
    let keyword = line
        .split_whitespace()
        .take(6)
        .find(|word| !MODIFIERS.contains(&word.to_lowercase().as_str()))?
        .to_lowercase();
    if !DECLARATIONS.contains(&keyword.trim_end_matches(['(', '<', '{'])) && !keyword.starts_with("impl<") {
        return None;
    }
    let signature = line.split(['{', '=', ';']).next().unwrap_or(line);
    let signature = signature.split('(').next().unwrap_or(signature).trim().trim_end_matches(':');
    Some(crate::text::excerpt(signature, 80))
}
