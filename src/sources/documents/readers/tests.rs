use super::*;
use crate::search::chunking::BlockKind::{self, *};
use rstest::rstest;

fn only(path: &str, content: &str) -> Document {
    let mut read = read(path, content.as_bytes()).unwrap();
    assert_eq!(read.documents.len(), 1);
    read.documents.remove(0)
}

fn blocks(document: &Document) -> Vec<(String, BlockKind, String)> {
    document.blocks.iter().map(|block| (block.headings.join(" > "), block.kind, block.text.clone())).collect()
}

fn expected(rows: &[(&str, BlockKind, &str)]) -> Vec<(String, BlockKind, String)> {
    rows.iter().map(|(headings, kind, text)| ((*headings).to_owned(), *kind, (*text).to_owned())).collect()
}

#[test]
fn markdown_nests_headings_and_tells_blocks_apart() {
    let document = only(
        "guides/a.md",
        "# Guide\n\nIntro *with* a [link](http://x).\n\n## Install\n\n- one\n- two\n  - deeper\n\n```sh\ncargo run\n```\n\n\
         ### Linux\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n## Use\n\n<b>inline</b> html\n",
    );
    assert_eq!((document.id.as_str(), document.title.as_str()), ("guides/a.md", "Guide"));
    assert_eq!(
        blocks(&document),
        expected(&[
            ("", Prose, "Intro with a link."),
            ("Install", List, "- one\n- two\n  - deeper"),
            ("Install", Code, "cargo run"),
            ("Install > Linux", Table, "a | b\n1 | 2"),
            ("Install > Linux", Prose, "quoted"),
            ("Use", Prose, "inline html"),
        ])
    );
}

#[test]
fn markdown_front_matter_names_title_and_url() {
    let document =
        only("a.md", "---\ntitle: \"Real title\"\nurl: https://x.example/a\n---\n# Other\n\ntext\n");
    assert_eq!(
        (document.title.as_str(), document.url.as_deref()),
        ("Real title", Some("https://x.example/a"))
    );
    assert_eq!(blocks(&document), expected(&[("", Prose, "text")]));
}

#[test]
fn a_file_without_a_heading_is_titled_by_its_name() {
    assert_eq!(only("x/getting_started-now.md", "text").title, "Getting started now");
    assert_eq!(only("README", "text").title, "README");
    assert_eq!(only(".txt", "text").title, ".txt");
}

#[test]
fn html_keeps_what_a_reader_sees() {
    let document = only(
        "a.html",
        "<html><head><title>The  page</title><link rel=canonical href='https://x.example/p'><style>x{}</style></head><body>\
         <nav>menu</nav><h1>The page</h1><p>One <b>two</b>,\n three.</p><h2>List</h2><ul><li>a</li><li>b <i>c</i></li></ul>\
         <table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr></table><pre>fn a()\n  b</pre><script>no()</script>\
         <div>loose text</div><footer>no</footer></body></html>",
    );
    assert_eq!((document.title.as_str(), document.url.as_deref()), ("The page", Some("https://x.example/p")));
    assert_eq!(
        blocks(&document),
        expected(&[
            ("", Prose, "One two, three."),
            ("List", List, "- a\n- b c"),
            ("List", Table, "k | v\n1 | 2"),
            ("List", Code, "fn a()\n  b"),
            ("List", Prose, "loose text"),
        ])
    );
}

#[test]
fn text_is_paragraphs() {
    let document = only("notes.txt", "one\nstill one\n\n\n\ntwo\r\n\r\nthree");
    assert_eq!(
        blocks(&document),
        expected(&[("", Prose, "one\nstill one"), ("", Prose, "two"), ("", Prose, "three")])
    );
}

#[test]
fn a_bad_line_costs_itself_only() {
    let read = read(
        "c.jsonl",
        b"{\"_id\": \"a\", \"title\": \"T\", \"text\": \"x\\n\\ny\"}\nnot json\n{\"_id\": 7, \"text\": \"z\"}\n\n{\"_id\": \"a\", \"text\": \"again\"}\n{\"_id\": []}",
    )
    .unwrap();
    let found: Vec<(&str, &str, usize)> =
        read.documents.iter().map(|d| (d.id.as_str(), d.title.as_str(), d.blocks.len())).collect();
    assert_eq!(found, [("a", "T", 2), ("7", "z", 1)]);
    assert_eq!(read.warnings.len(), 3);
    assert!(read.warnings[0].starts_with("c.jsonl:2: "));
    assert!(read.warnings[1].starts_with("c.jsonl:5: "));
}

#[test]
fn json_lines_are_cleaned_after_parsing() {
    let read = read(
        "c.jsonl",
        br#"{"_id": "a", "id": "b", "title": "x\u0000y", "text": null, "url": "javascript:alert(1)"}
{"_id": "c", "text": "bell\u0007"}"#,
    )
    .unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let first = &read.documents[0];
    assert_eq!((first.id.as_str(), first.title.as_str(), first.url.as_deref()), ("a", "x y", None));
    assert_eq!(read.documents[1].blocks[0].text, "bell");
}

#[test]
fn html_that_nests_without_end_is_refused() {
    for unit in ["<div>", "<div></x>", "<a></b></b>"] {
        assert!(read("a.html", unit.repeat(20_000).as_bytes()).unwrap_err().contains("deep"), "{unit}");
    }
    let page = "<p>one<br>two</p><ul><li>three</ul>".repeat(1000);
    assert!(read("a.html", page.as_bytes()).is_ok());
}

#[test]
fn a_heading_is_not_a_text() {
    let document = only("a.md", &format!("## {}\n\ntext", "word ".repeat(1000)));
    assert!(document.blocks[0].headings[0].chars().count() <= 160);
}

#[test]
fn code_is_cut_at_its_items_with_their_comments() {
    let document = only(
        "src/lib.rs",
        "//! Crate.\n\nuse std::fmt;\n\n/// Adds.\n#[inline]\npub fn add(a: u8) -> u8 {\n    a\n}\n\nimpl Foo {\n    fn bar() {}\n}\n",
    );
    let headings: Vec<String> = document.blocks.iter().map(|block| block.headings.join("")).collect();
    assert_eq!(headings, ["", "pub fn add", "impl Foo"]);
    assert!(document.blocks[1].text.starts_with("/// Adds.\n#[inline]"));
    let document = only("a.py", "import x\n\n@wrap\ndef f(a):\n    return a\n\nclass C:\n    pass\n");
    let headings: Vec<String> = document.blocks.iter().map(|block| block.headings.join("")).collect();
    assert_eq!(headings, ["", "def f", "class C"]);
}

#[test]
fn binary_is_refused_and_bad_bytes_are_replaced() {
    assert!(read("x.txt", b"a\0b").unwrap_err().contains("binary"));
    let read = read("x.txt", b"\xef\xbb\xbfcaf\xe9 \x07bell").unwrap();
    assert_eq!(read.documents[0].blocks[0].text, "caf\u{fffd} bell");
    assert_eq!(read.warnings.len(), 1);
}

#[rstest]
#[case::divs("a.html", "<div>".repeat(200_000))]
#[case::brackets("a.md", "[".repeat(100_000))]
#[case::quotes("a.md", "> ".repeat(50_000))]
#[case::lists("a.md", (0..2000).map(|n| format!("{}- x\n", " ".repeat(n))).collect::<String>())]
#[case::json("a.jsonl", format!("{{\"_id\": \"a\", \"text\": {}}}", "[".repeat(100_000)))]
#[case::word("a.txt", "x".repeat(1 << 20))]
#[case::code("a.rs", "fn fn fn {{{{ ".repeat(20_000))]
fn hostile_files_are_read_or_refused(#[case] path: &str, #[case] content: String) {
    let _ = read(path, content.as_bytes());
}
