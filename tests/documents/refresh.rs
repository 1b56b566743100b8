//! From files to hits, and how changes of files come through.

use std::fs;

use askback::sources::{Evidence, Health, Reference, SourceError, Trust};

use super::support::{Bench, paragraph, reference};

const CATS: &str = "# Cats\n\nA cat sleeps on the warm windowsill.\n";
const BOATS: &str = "# Boats\n\nThe ferry crosses the strait at dawn.\n";

#[tokio::test]
async fn finds_the_passage_and_says_where_it_came_from() {
    let bench = Bench::new(&[("pets/cats.md", CATS), ("boats.md", BOATS)]);
    let source = bench.open();
    assert!(matches!(source.status().health, Health::Preparing(_)));
    assert!(matches!(source.search("cat").await, Err(SourceError::Unavailable(_))));

    let report = source.refresh().await.unwrap();
    assert_eq!((report.changed, report.documents, report.passages, report.added), (true, 2, 2, 2));
    assert_eq!(report.warnings, Vec::<String>::new());
    assert_eq!(source.status().health, Health::Healthy);

    let found = source.search("ferries at dawn").await.unwrap();
    let hit = &found.hits[0];
    assert_eq!(hit.reference.to_string(), "docs/boats.md#0");
    assert_eq!((hit.title.as_str(), hit.text.as_str()), ("Boats", "The ferry crosses the strait at dawn."));
    // Best on both sides: ½·1 + ½·1.
    assert!((hit.score - 1.0).abs() < 1e-6);
    assert_eq!((hit.section.as_deref(), hit.url.as_deref()), (None, None));
    assert_eq!((hit.provenance.origin.as_str(), hit.provenance.trust), ("boats.md", Trust::CuratedReviewed));
    assert_eq!(Some(&hit.provenance.index_version), source.status().index_version.as_ref());

    let located = source.0.locate(&hit.reference).await.unwrap();
    assert_eq!((located.text.as_str(), located.score), (hit.text.as_str(), 0.0));
}

#[tokio::test]
async fn evidence_names_the_words_nobody_wrote() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    let source = bench.ready().await;
    let Evidence::Ranked(evidence) = source.search("Which zeppelins do cats have?").await.unwrap().evidence
    else {
        panic!("not ranked")
    };
    assert_eq!(evidence.unknown_terms, ["zeppelins"]);
    assert_eq!(evidence.known_terms, 1);
    assert_eq!(evidence.similarity.size(), 2);
    assert_eq!((evidence.signals.lexical_hits, evidence.signals.dense_hits), (1, 2));
}

#[tokio::test]
async fn follows_changes_and_embeds_only_what_is_new() {
    let bench =
        Bench::new(&[("cats.md", CATS), ("boats.md", BOATS), ("old.md", "# Old\n\nGone tomorrow.\n")]);
    let source = bench.ready().await;
    assert_eq!(bench.words.taken(), 3);
    let first = source.status().index_version;

    let report = source.refresh().await.unwrap();
    assert_eq!((report.changed, report.documents), (false, 3));
    assert_eq!(source.status().index_version, first);

    bench.write("boats.md", "# Boats\n\nThe ferry was replaced by a tunnel.\n");
    bench.write("new.md", "# New\n\nA telescope on the roof.\n");
    bench.remove("old.md");
    let report = source.refresh().await.unwrap();
    assert_eq!((report.changed, report.documents), (true, 3));
    assert_eq!((report.added, report.updated, report.removed), (1, 1, 1));
    assert_eq!(bench.words.taken(), 2);
    assert_ne!(source.status().index_version, first);
    assert_eq!(source.found("tunnel").await[0], "boats.md#0");
    assert_eq!(source.found("telescope").await[0], "new.md#0");
    assert!(!source.found("tomorrow").await.contains(&"old.md#0".to_owned()));
}

#[tokio::test]
async fn a_new_date_alone_changes_nothing() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let source = bench.ready().await;
    let fetched = source.search("cat").await.unwrap().hits[0].provenance.fetched_at.clone();
    bench.words.taken();
    let file = fs::File::options().write(true).open(bench.files.path().join("cats.md")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let report = source.refresh().await.unwrap();
    assert_eq!((report.changed, report.documents, bench.words.taken()), (false, 1, 0));
    assert_eq!(source.search("cat").await.unwrap().hits[0].provenance.fetched_at, fetched);
}

#[tokio::test]
async fn an_empty_folder_answers_with_nothing() {
    let bench = Bench::new(&[]);
    let source = bench.ready().await;
    assert_eq!(source.status().health, Health::Healthy);
    assert_eq!((source.status().documents, source.status().passages), (0, 0));
    let found = source.search("anything").await.unwrap();
    assert!(found.hits.is_empty());
    let Evidence::Ranked(evidence) = found.evidence else { panic!("not ranked") };
    assert_eq!(evidence.unknown_terms, ["anything"]);

    bench.write("cats.md", CATS);
    assert_eq!(source.refresh().await.unwrap().added, 1);
    assert_eq!(source.found("cat").await, ["cats.md#0"]);
}

#[tokio::test]
async fn a_title_is_enough() {
    let bench = Bench::new(&[("only.md", "# Release checklist\n")]);
    let source = bench.ready().await;
    let hits = source.search("checklist").await.unwrap().hits;
    assert_eq!((hits.len(), hits[0].text.as_str()), (1, "Release checklist"));
}

#[tokio::test]
async fn copies_of_one_text_take_one_place() {
    let bench = Bench::new(&[("a.md", CATS), ("b/copy.md", CATS), ("boats.md", BOATS)]);
    let source = bench.ready().await;
    assert_eq!(source.found("cat").await, ["a.md#0", "boats.md#0"]);
    // The copy is still there for whoever has its reference.
    assert!(source.0.locate(&reference("b/copy.md#0")).await.is_ok());
}

#[tokio::test]
async fn of_two_documents_with_one_id_the_first_file_has_it_until_it_lets_go() {
    let record = |text: &str| format!("{{\"_id\": \"x\", \"title\": \"X\", \"text\": \"{text}\"}}\n");
    let bench = Bench::new(&[("b.jsonl", &record("banana"))]);
    let source = bench.ready().await;
    bench.write("a.jsonl", &record("apple"));
    let report = source.refresh().await.unwrap();
    assert_eq!((report.documents, report.updated), (1, 1));
    assert_eq!(report.warnings, ["b.jsonl: the id “x” is used by a.jsonl too; skipped"]);
    assert_eq!(source.0.locate(&reference("x#0")).await.unwrap().text, "apple");
    // Said again as long as it is so.
    assert_eq!(source.refresh().await.unwrap().warnings, report.warnings);

    bench.remove("a.jsonl");
    let report = source.refresh().await.unwrap();
    assert_eq!((report.documents, report.warnings.len()), (1, 0));
    assert_eq!(source.0.locate(&reference("x#0")).await.unwrap().text, "banana");
}

#[tokio::test]
async fn warnings_stay_while_their_file_does() {
    let bench = Bench::new(&[("bad.jsonl", "not json\n"), ("cats.md", CATS)]);
    let source = bench.ready().await;
    for _ in 0..2 {
        let warnings = source.refresh().await.unwrap().warnings;
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with("bad.jsonl:1: "), "{warnings:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_lead_to_files_inside_only() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new(&[(".hidden/real.md", CATS)]);
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "# Secret\n\nNobody may read this.\n").unwrap();
    symlink(outside.path().join("secret.md"), bench.files.path().join("secret.md")).unwrap();
    symlink(outside.path(), bench.files.path().join("folder")).unwrap();
    symlink(".hidden/real.md", bench.files.path().join("linked.md")).unwrap();
    let source = bench.ready().await;
    assert_eq!(source.status().documents, 1);
    assert_eq!(source.found("cat").await, ["linked.md#0"]);
}

#[tokio::test]
async fn references_are_looked_up_and_never_opened() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let source = bench.ready().await;
    for document in ["../../etc/passwd", "/etc/passwd", "cats.md/../cats.md", "CATS.MD", "' OR 1=1 --", ""] {
        let reference = Reference { source: "docs".to_owned(), document: document.to_owned(), position: 0 };
        let error = source.0.locate(&reference).await.unwrap_err();
        assert!(matches!(error, SourceError::ReferenceNotFound(_)), "{document}: {error}");
    }
    for position in [1, u32::MAX] {
        let reference = Reference { position, ..reference("cats.md#0") };
        assert!(matches!(source.0.locate(&reference).await, Err(SourceError::ReferenceNotFound(_))));
    }
}

#[tokio::test]
async fn a_source_of_some_size_is_calibrated() {
    let bench = Bench::new(&[]);
    for n in 0..60 {
        let text = paragraph(&format!("topic{n}word"), 30);
        bench.write(&format!("{n}.md"), &format!("# Topic {n}\n\n{text}\n"));
    }
    let source = bench.ready().await;
    let calibration = source.status().calibration.unwrap();
    assert_eq!(calibration.passages, 60);
    assert_eq!(calibration.embedding.as_deref(), Some("words"));
    // Kept as long as little changes, and by whoever opens it next.
    bench.write("61.md", "# One more\n\nText.\n");
    source.refresh().await.unwrap();
    assert_eq!(source.status().calibration.unwrap().fitted_at, calibration.fitted_at);
    assert_eq!(bench.open().status().calibration.unwrap().fitted_at, calibration.fitted_at);
}
