//! What a crash, a careless hand, or a second process may do.

use std::{fs, sync::atomic::Ordering};

use askback::sources::{Health, SourceError};
use rusqlite::params;

use super::support::{Bench, Words, folders, paragraph};

const CATS: &str = "# Cats\n\nA cat sleeps on the warm windowsill.\n";
const BOATS: &str = "# Boats\n\nThe ferry crosses the strait at dawn.\n";

#[tokio::test]
async fn opens_what_was_there_without_reading_files_again() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    let version = bench.ready().await.status().index_version;
    bench.words.taken();
    let source = bench.open();
    assert_eq!(source.status().health, Health::Healthy);
    assert_eq!(source.status().index_version, version);
    assert_eq!(bench.words.taken(), 0);
    assert_eq!(source.found("ferry").await[0], "boats.md#0");
}

#[tokio::test]
async fn a_missing_or_damaged_lexical_index_is_built_anew() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    let version = bench.ready().await.status().index_version.unwrap();
    let folder = bench.index().join(&version);

    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(bench.open().found("ferry").await[0], "boats.md#0");
    assert!(folder.join("meta.json").exists());

    // One flipped bit in every file that holds postings, norms or terms.
    for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        if entry
            .path()
            .extension()
            .is_some_and(|ending| ["idx", "fieldnorm", "term"].iter().any(|e| ending == *e))
        {
            let mut bytes = fs::read(entry.path()).unwrap();
            bytes[0] ^= 1;
            fs::write(entry.path(), bytes).unwrap();
        }
    }
    assert_eq!(bench.open().found("ferry").await[0], "boats.md#0");

    fs::write(folder.join("meta.json"), "{").unwrap();
    assert_eq!(bench.open().found("ferry").await[0], "boats.md#0");
}

#[tokio::test]
async fn what_a_crash_left_behind_is_ignored_and_cleared() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let version = bench.ready().await.status().index_version.unwrap();
    // A version that was being written: its folder, and vectors of texts no passage has.
    fs::create_dir_all(bench.index().join("2-feedfeedfeed")).unwrap();
    fs::write(bench.index().join("2-feedfeedfeed/meta.json"), "half of it").unwrap();
    let insert = "INSERT INTO vectors (embedding, hash, scale, bytes) VALUES ('words', ?1, 1.0, x'00')";
    bench.database().execute(insert, params![[7u8; 32]]).unwrap();

    let source = bench.open();
    assert_eq!(source.status().index_version.as_ref(), Some(&version));
    assert_eq!(source.found("cat").await, ["cats.md#0"]);
    source.refresh().await.unwrap();
    assert_eq!(folders(&bench.index()), [version]);

    bench.write("boats.md", BOATS);
    source.refresh().await.unwrap();
    assert_eq!(folders(&bench.index()), [source.status().index_version.unwrap()]);
    let vectors = bench.database().query_row("SELECT count(*) FROM vectors", [], |row| row.get::<_, i64>(0));
    assert_eq!(vectors.unwrap(), 2);
}

#[tokio::test]
async fn a_failed_ingest_keeps_the_old_version_and_what_was_embedded() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let source = bench.ready().await;
    let version = source.status().index_version;
    // 33 texts: one batch of 32 goes through, the next does not.
    for n in 0..33 {
        bench.write(&format!("{n}.md"), &format!("# {n}\n\n{}\n", paragraph(&format!("x{n}y"), 5)));
    }
    bench.words.taken();
    bench.words.strength.store(32, Ordering::SeqCst);
    assert!(source.refresh().await.is_err());
    bench.words.strength.store(usize::MAX, Ordering::SeqCst);
    assert_eq!((source.status().health, source.status().index_version), (Health::Healthy, version));
    assert_eq!(source.found("cat").await, ["cats.md#0"]);

    bench.words.taken();
    let source = bench.open();
    assert_eq!(source.refresh().await.unwrap().added, 33);
    assert_eq!(bench.words.taken(), 1);
}

#[tokio::test]
async fn lost_vectors_are_made_again() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    bench.ready().await;
    bench.database().execute("DELETE FROM vectors", []).unwrap();
    let source = bench.open();
    assert!(matches!(source.status().health, Health::Preparing(_)));
    assert!(source.refresh().await.unwrap().changed);
    assert_eq!(source.found("ferry").await[0], "boats.md#0");
    assert_eq!(bench.open().status().health, Health::Healthy);
}

#[tokio::test]
async fn another_embedding_makes_another_index() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    bench.ready().await;
    let other = Words::new("other words");
    let source = bench.open_with(other.clone());
    assert!(matches!(source.status().health, Health::Preparing(_)));
    let report = source.refresh().await.unwrap();
    assert_eq!((report.changed, report.added, report.updated), (true, 0, 0));
    assert_eq!(other.taken(), 1);
    let hits = source.search("cat").await.unwrap().hits;
    assert!(hits[0].provenance.recipe_version.ends_with("+other words"));
}

#[tokio::test]
async fn two_processes_share_one_folder() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let (server, command) = (bench.open(), bench.open());
    assert!(command.refresh().await.unwrap().changed);
    // The server finds the version of the other and takes it over without building one.
    assert!(!server.refresh().await.unwrap().changed);
    assert_eq!(server.found("cat").await, ["cats.md#0"]);

    bench.write("boats.md", BOATS);
    command.refresh().await.unwrap();
    // The server's version is gone from disk, and it still answers from it.
    assert_eq!(server.found("cat").await, ["cats.md#0"]);
    server.refresh().await.unwrap();
    assert_eq!(server.status().index_version, command.status().index_version);

    bench.write("new.md", "# New\n\nA telescope on the roof.\n");
    let (one, other) = tokio::join!(server.refresh(), command.refresh());
    for outcome in [one, other] {
        assert!(matches!(outcome, Ok(_) | Err(SourceError::Unavailable(_))));
    }
    for source in [&server, &command] {
        source.refresh().await.unwrap();
        assert_eq!(source.found("telescope").await[0], "new.md#0");
    }
}

#[tokio::test]
async fn an_ingest_under_way_is_not_disturbed() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let source = bench.open();
    fs::create_dir_all(bench.index()).unwrap();
    let lock = fs::File::create(bench.index().join("ingest.lock")).unwrap();
    lock.lock().unwrap();
    let error = source.refresh().await.unwrap_err();
    assert!(matches!(&error, SourceError::Unavailable(why) if why.contains("another process")), "{error}");
    drop(lock);
    assert!(source.refresh().await.unwrap().changed);
}
