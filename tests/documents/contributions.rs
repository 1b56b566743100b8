//! What agents write: found with the next search, on every process, and never lost to an index.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "helpers of tests")]

use std::sync::Arc;

use askback::{
    sources::{Hit, SourceError, Strategy, Trust},
    store::state::{Actor, Contributed, Contribution, Entry, Receipt, WriteResult},
};

use crate::support::{Bench, Opened, Words, paragraph, reference};

fn bench() -> Bench {
    Bench::new(&[
        ("printer.md", "# Printer\n\nThe printer takes paper of size four.\n"),
        ("coffee.md", "# Coffee\n\nBeans are in the cupboard.\n"),
        ("garden.md", "# Garden\n\nTulips bloom in April.\n"),
    ])
}

fn contribution(entry: Entry, content: &str) -> Contribution {
    Contribution {
        source: "docs".to_owned(),
        writer: Actor { subject: "ada".to_owned(), kind: "agent".to_owned() },
        request_id: "r1".to_owned(),
        entry,
        title: None,
        content: content.to_owned(),
        origin: "a talk in the corridor".to_owned(),
        note: None,
        idempotency_key: None,
    }
}

fn upsert(key: &str, content: &str) -> Contribution {
    contribution(Entry::Upsert { key: key.to_owned() }, content)
}

async fn written(source: &Opened, contribution: Contribution) -> Receipt {
    match source.0.write(contribution).await.unwrap() {
        Contributed::Recorded(receipt) => receipt,
        other => panic!("{other:?}"),
    }
}

/// Where a search for `word` finds it. What holds it comes first; what does not is there as well.
async fn holding(source: &Opened, word: &str) -> Vec<String> {
    let hits = source.search(word).await.unwrap().hits;
    let holds = |hit: &Hit| hit.text.to_lowercase().contains(word);
    let found: Vec<&Hit> = hits.iter().filter(|hit| holds(hit)).collect();
    assert!(hits.iter().take(found.len()).all(holds), "what holds the word comes first");
    found.iter().map(|hit| format!("{}#{}", hit.reference.document, hit.position)).collect()
}

async fn noted(source: &Opened, on: &str, text: &str) -> Receipt {
    let reference = reference(on);
    let hit = source.0.locate(&reference).await.unwrap();
    let entry = Entry::Annotate {
        document: reference.document,
        position: reference.position,
        content_sha256: hit.provenance.content_sha256,
    };
    written(source, contribution(entry, text)).await
}

async fn hit(source: &Opened, at: &str) -> Hit {
    source.0.locate(&reference(at)).await.unwrap()
}

#[tokio::test]
async fn an_item_is_there_with_the_next_search() {
    let bench = bench();
    let source = bench.ready().await;
    assert_eq!(holding(&source, "zeppelin").await, [""; 0]);
    let content = "The zeppelin lands on Monday.\n\n## Where\n\nBehind the barn.";
    let titled = Contribution { title: Some("Airship".to_owned()), ..contribution(Entry::Append, content) };
    let receipt = written(&source, titled).await;
    assert_eq!((receipt.document.as_str(), receipt.revision), ("~item/1", 1));
    assert_eq!(holding(&source, "zeppelin").await, ["~item/1#0"]);
    assert!(source.found("printer paper").await.contains(&"printer.md#0".to_owned()));

    let hit = hit(&source, "~item/1#0").await;
    assert_eq!((hit.title.as_str(), hit.provenance.origin.as_str()), ("Airship", "a talk in the corridor"));
    assert_eq!(hit.provenance.trust, Trust::AgentContributed);
    assert_eq!((hit.provenance.writer.as_deref(), hit.provenance.revision), (Some("ada"), Some(1)));
    assert_eq!(hit.provenance.fetched_at, receipt.recorded_at);
    let whole = source.expand("~item/1#0", Strategy::Document, 2, 1000).await;
    let text: Vec<&str> = whole.passages.iter().map(|passage| passage.hit.text.as_str()).collect();
    assert!(text.join(" ").contains("Behind the barn"), "{text:?}");
    assert_eq!(source.status().documents, 4);
}

#[tokio::test]
async fn a_key_has_its_newest_content_only() {
    let bench = bench();
    let source = bench.ready().await;
    let first = written(&source, upsert("menu", "Today there is goulash.")).await;
    let second = written(&source, upsert("menu", "Today there is ratatouille.")).await;
    assert_eq!((first.result, second.result), (WriteResult::Created, WriteResult::Updated));
    assert_eq!(second.document, "~key/menu");
    assert_eq!(holding(&source, "goulash").await, [""; 0]);
    assert_eq!(holding(&source, "ratatouille").await, ["~key/menu#0"]);
    assert_eq!(hit(&source, "~key/menu#0").await.provenance.revision, Some(2));
    let same = written(&source, upsert("menu", "Today there is ratatouille.")).await;
    assert_eq!((same.result, same.revision), (WriteResult::Unchanged, 2));
    assert_eq!(source.status().documents, 4);
}

#[tokio::test]
async fn notes_are_shown_with_what_they_are_on() {
    let bench = bench();
    let source = bench.ready().await;
    noted(&source, "printer.md#0", "It is broken.").await;
    let notes = hit(&source, "printer.md#0").await.notes;
    assert_eq!(notes.len(), 1);
    assert_eq!((notes[0].text.as_str(), notes[0].writer.as_str()), ("It is broken.", "ada"));
    assert_eq!((notes[0].trust, notes[0].content_changed), (Trust::AgentContributed, false));
    assert!(hit(&source, "coffee.md#0").await.notes.is_empty());
    // The content is untouched, and the note is no way to find it.
    assert_eq!(holding(&source, "broken").await, [""; 0]);
    assert!(hit(&source, "printer.md#0").await.text.contains("paper of size four"));
    let found = source.search("printer paper").await.unwrap().hits;
    assert_eq!(found[0].notes, notes);

    for n in 0..12 {
        noted(&source, "printer.md#0", &format!("Note {n}.")).await;
    }
    let notes = hit(&source, "printer.md#0").await.notes;
    let texts: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
    let newest: Vec<String> = (2..12).rev().map(|n| format!("Note {n}.")).collect();
    assert_eq!(texts, newest, "the ten newest, newest first");
}

#[tokio::test]
async fn a_note_says_when_its_document_has_changed() {
    let bench = bench();
    let source = bench.ready().await;
    noted(&source, "printer.md#0", "It is broken.").await;
    bench.write("printer.md", "# Printer\n\nThe new printer takes every paper.\n");
    source.refresh().await.unwrap();
    let notes = hit(&source, "printer.md#0").await.notes;
    assert_eq!((notes.len(), notes[0].content_changed), (1, true));
    // On what was contributed, too.
    written(&source, upsert("menu", "Goulash.")).await;
    noted(&source, "~key/menu#0", "Too salty.").await;
    assert!(!hit(&source, "~key/menu#0").await.notes[0].content_changed);
    written(&source, upsert("menu", "Ratatouille.")).await;
    assert!(hit(&source, "~key/menu#0").await.notes[0].content_changed);
}

#[tokio::test]
async fn an_object_is_read_field_by_field() {
    let bench = bench();
    let source = bench.ready().await;
    let object = r#"{"title": "Room 7", "text": "Seats twelve.", "beamer": true, "floor": 3, "none": null}"#;
    written(&source, contribution(Entry::Append, object)).await;
    assert_eq!(holding(&source, "beamer").await, ["~item/1#0"]);
    let hit = hit(&source, "~item/1#0").await;
    assert_eq!(hit.title, "Room 7");
    assert_eq!(hit.text, "Seats twelve.\n\nbeamer: true\nfloor: 3");
}

#[tokio::test]
async fn content_that_nobody_could_find_is_refused() {
    let bench = bench();
    let source = bench.ready().await;
    for content in ["", "---", "# \n\n", "{}", r#"{"a": null}"#, "<!-- hidden -->"] {
        let refused = source.0.write(contribution(Entry::Append, content)).await;
        assert!(matches!(refused, Err(SourceError::Rejected(_))), "{content:?}: {refused:?}");
    }
    assert_eq!(source.status().documents, 3);
}

#[tokio::test]
async fn a_repeated_write_is_the_same_write() {
    let bench = bench();
    let source = bench.ready().await;
    let keyed =
        Contribution { idempotency_key: Some("k".to_owned()), ..contribution(Entry::Append, "A zeppelin.") };
    let receipt = written(&source, keyed.clone()).await;
    assert_eq!(source.0.write(keyed.clone()).await.unwrap(), Contributed::Replayed(receipt));
    let other = Contribution { content: "An airship.".to_owned(), ..keyed };
    assert_eq!(source.0.write(other).await.unwrap(), Contributed::Conflict);
    assert_eq!((holding(&source, "zeppelin").await.len(), holding(&source, "airship").await.len()), (1, 0));
}

#[tokio::test]
async fn every_process_sees_what_any_of_them_took() {
    let bench = bench();
    let (one, other) = (bench.ready().await, bench.open());
    other.refresh().await.unwrap();
    written(&one, upsert("menu", "Goulash.")).await;
    assert_eq!(holding(&other, "goulash").await, ["~key/menu#0"]);
    written(&other, upsert("menu", "Ratatouille.")).await;
    noted(&other, "coffee.md#0", "Decaf is gone.").await;
    assert_eq!(holding(&one, "goulash").await, [""; 0]);
    assert_eq!(holding(&one, "ratatouille").await, ["~key/menu#0"]);
    assert_eq!(hit(&one, "coffee.md#0").await.notes.len(), 1);
    // And one that is started later.
    let later = bench.open();
    assert_eq!(holding(&later, "ratatouille").await, ["~key/menu#0"]);
    assert_eq!(hit(&later, "coffee.md#0").await.notes.len(), 1);
}

#[tokio::test]
async fn many_contributions_become_part_of_the_index() {
    let bench = bench();
    let source = bench.ready().await;
    let before = source.status().index_version;
    for n in 0..40 {
        written(&source, contribution(Entry::Append, &format!("Zeppelin number{n} lands."))).await;
    }
    written(&source, upsert("menu", "Goulash.")).await;
    let refreshed = source.refresh().await.unwrap();
    assert!(refreshed.changed, "a new version holds them");
    assert_ne!(source.status().index_version, before);
    assert_eq!(holding(&source, "number17").await, ["~item/18#0"]);
    assert_eq!(source.status().documents, 3 + 41);
    let hit = hit(&source, "~item/18#0").await;
    assert_eq!(
        (hit.provenance.trust, hit.provenance.writer.as_deref()),
        (Trust::AgentContributed, Some("ada"))
    );
    // What is replaced after that is replaced in the version, too.
    written(&source, upsert("menu", "Ratatouille.")).await;
    assert_eq!(holding(&source, "goulash").await, [""; 0]);
    assert_eq!(holding(&source, "ratatouille").await, ["~key/menu#0"]);
    assert_eq!(source.status().documents, 3 + 41);
    assert!(!source.refresh().await.unwrap().changed, "one more is not worth a new version");
    assert_eq!(holding(&source, "ratatouille").await, ["~key/menu#0"]);
}

#[tokio::test]
async fn a_change_of_the_files_keeps_what_was_contributed() {
    let bench = bench();
    let source = bench.ready().await;
    written(&source, upsert("menu", "Goulash.")).await;
    bench.write("airship.md", "# Airship\n\nThe zeppelin lands.\n");
    bench.remove("garden.md");
    source.refresh().await.unwrap();
    assert_eq!(holding(&source, "zeppelin").await, ["airship.md#0"]);
    assert_eq!(holding(&source, "goulash").await, ["~key/menu#0"]);
    assert_eq!(holding(&source, "tulips").await, [""; 0]);
    let after = bench.open();
    assert_eq!(holding(&after, "goulash").await, ["~key/menu#0"]);
    assert_eq!(after.status().documents, 4);
}

#[tokio::test]
async fn another_embedding_reads_it_anew() {
    let bench = bench();
    let source = bench.ready().await;
    written(&source, upsert("menu", "Goulash.")).await;
    drop(source);
    let other = bench.open_with(Words::new("other words"));
    other.refresh().await.unwrap();
    assert_eq!(holding(&other, "goulash").await, ["~key/menu#0"]);
}

#[tokio::test]
async fn what_cannot_be_embedded_is_not_acknowledged() {
    let bench = bench();
    let source = bench.ready().await;
    bench.words.taken();
    bench.words.strength.store(0, std::sync::atomic::Ordering::SeqCst);
    assert!(source.0.write(upsert("menu", "Goulash.")).await.is_err());
    bench.words.strength.store(usize::MAX, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(holding(&source, "goulash").await, [""; 0], "nothing was recorded");
    let receipt = written(&source, upsert("menu", "Goulash.")).await;
    assert_eq!((receipt.result, receipt.revision), (WriteResult::Created, 1));
}

#[tokio::test]
async fn a_long_item_is_cut_like_a_file() {
    let bench = bench();
    let source = bench.ready().await;
    let long =
        format!("{}\n\n{}\n\n{}", paragraph("a", 300), paragraph("b", 300), paragraph("zeppelin", 300));
    written(&source, contribution(Entry::Append, &long)).await;
    let found = holding(&source, "zeppelin299").await;
    assert_eq!(found.len(), 1);
    assert_ne!(found[0], "~item/1#0", "its end is in a passage of its own");
}

#[tokio::test]
async fn files_cannot_pass_for_contributions() {
    let bench = Bench::new(&[("~item/1", "forged"), ("~key/menu.md", "Forged goulash."), ("a.md", "Soup.")]);
    let source = bench.ready().await;
    assert_eq!(holding(&source, "goulash").await, [""; 0]);
    assert_eq!(source.status().documents, 1);
    written(&source, upsert("menu.md", "Real goulash.")).await;
    assert_eq!(holding(&source, "goulash").await, ["~key/menu.md#0"]);
    assert!(hit(&source, "~key/menu.md#0").await.text.contains("Real"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_and_readers_at_once_are_no_trouble() {
    let bench = bench();
    let source = Arc::new(bench.ready().await);
    let writers = (0..4).map(|writer| {
        let source = Arc::clone(&source);
        tokio::spawn(async move {
            for n in 0..8 {
                written(&source, contribution(Entry::Append, &format!("Zeppelin w{writer}n{n}."))).await;
                assert_eq!(holding(&source, &format!("w{writer}n{n}")).await.len(), 1, "its writer finds it");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(source.status().documents, 3 + 32);
}
