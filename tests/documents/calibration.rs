//! Calibrating a source on command, with labels and without, and when it is calibrated again.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests, too")]

use std::sync::Arc;

use askback::{
    confidence::{
        Calibration,
        calibration::{LabelledQuery, Labels},
        gate::Profile,
    },
    sources::{CalibrateRequest, LabelChange, Quiet, SourceError},
};

use super::support::{Bench, Opened};

/// A word for a number that no other number has; without vowels, so that no stemmer touches it.
fn word(n: usize) -> String {
    let consonant = |n: usize| char::from(b"bcdfghjklmnpqrtvwxz"[n % 19]);
    ['z', consonant(n / 361), consonant(n / 19), consonant(n), 'k'].iter().collect()
}

fn page(n: usize) -> String {
    let words: Vec<String> = (0..8).map(|k| word(8 * n + k)).collect();
    format!("# {} {}\n\n{} are kept here by the keeper.\n", words[0], words[1], words.join(" "))
}

/// Sixty pages of eight words each that no other page has.
fn bench() -> Bench {
    let bench = Bench::new(&[]);
    for n in 0..60 {
        bench.write(&format!("p{n}.md"), &page(n));
    }
    bench
}

/// Two queries a page that find it, one that cannot: its words are nowhere.
fn labels() -> Vec<LabelledQuery> {
    let query = |text: String, n: usize| LabelledQuery { query: text, documents: vec![format!("p{n}.md")] };
    (0..60)
        .flat_map(|n| {
            [
                query(format!("{} {}", word(8 * n), word(8 * n + 1)), n),
                query(format!("{} {} {}", word(8 * n + 2), word(8 * n + 3), word(8 * n + 4)), n),
                query(format!("zyx{n} vut{n}"), n),
            ]
        })
        .collect()
}

async fn calibrate(source: &Opened, labels: LabelChange) -> Result<Arc<Calibration>, SourceError> {
    source.0.calibrate(CalibrateRequest { labels }, Arc::new(Quiet)).await
}

fn replace(queries: Vec<LabelledQuery>, false_asks: f64) -> LabelChange {
    LabelChange::Replace(Labels { queries, false_asks })
}

fn in_force(source: &Opened) -> Arc<Calibration> {
    source.status().calibration.unwrap()
}

#[tokio::test]
async fn labels_set_a_threshold_that_stays_until_they_are_forgotten() {
    let bench = bench();
    let source = bench.ready().await;
    let plain = in_force(&source);
    assert!(plain.calibrated && plain.labelled.is_none());

    let fitted = calibrate(&source, replace(labels(), 0.1)).await.unwrap();
    let labelled = fitted.labelled.as_ref().unwrap();
    assert_eq!((labelled.queries, labelled.false_asks), (180, 0.1));
    // Those that can be found are; of the others those that ten pages shown for nothing happen to hold.
    assert!((120..150).contains(&labelled.answerable), "{}", labelled.answerable);
    assert!(labelled.least(Profile::Eager) >= labelled.least(Profile::Balanced));
    assert_eq!(in_force(&source), fitted);

    // Used again without being given again, and by a process that starts later.
    calibrate(&source, LabelChange::FalseAsks(0.02)).await.unwrap();
    let later = bench.open();
    assert_eq!(in_force(&later).labelled.as_ref().unwrap().false_asks, 0.02);

    // Another process that is running learns of it with its next refresh.
    calibrate(&later, LabelChange::Forget).await.unwrap();
    assert!(in_force(&source).labelled.is_some());
    source.refresh().await.unwrap();
    let mut forgotten = (*in_force(&source)).clone();
    forgotten.fitted_at.clone_from(&plain.fitted_at);
    assert_eq!(forgotten, *plain, "the same content and seed give the same calibration to the digit");
}

#[tokio::test]
async fn labels_that_teach_nothing_change_nothing() {
    let bench = bench();
    let source = bench.ready().await;
    let before = in_force(&source);
    for (labels, why) in [
        (replace(labels().into_iter().take(60).collect(), 0.03), "at least 100"),
        (LabelChange::FalseAsks(0.05), "no labels"),
        (
            replace(
                labels()
                    .into_iter()
                    .map(|l| LabelledQuery { documents: vec!["nowhere.md".into()], ..l })
                    .collect(),
                0.03,
            ),
            "0 labelled queries",
        ),
    ] {
        let error = calibrate(&source, labels).await.unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert_eq!(in_force(&source), before);
    }
}

#[tokio::test]
async fn content_replaced_by_as_much_of_another_kind_is_calibrated_anew_with_the_labels() {
    let bench = bench();
    let source = bench.ready().await;
    calibrate(&source, replace(labels(), 0.1)).await.unwrap();
    let before = in_force(&source);

    // A twentieth of the pages changes: what was learnt still holds.
    for n in 0..3 {
        bench.write(&format!("p{n}.md"), &page(100 + n));
    }
    source.refresh().await.unwrap();
    assert_eq!(in_force(&source).outline, before.outline);

    // A third changes, and the number of passages does not.
    for n in 40..60 {
        bench.write(&format!("p{n}.md"), &page(200 + n));
    }
    source.refresh().await.unwrap();
    let after = in_force(&source);
    assert_ne!(after.outline, before.outline);
    assert_eq!(after.passages, before.passages);
    assert_eq!(after.labelled.as_ref().unwrap().queries, 180);
    // The words of twenty pages are gone, so forty more queries fail, but for what ten pages shown for nothing hold.
    let answerable = |calibration: &Calibration| calibration.labelled.as_ref().unwrap().answerable;
    assert!(answerable(&before) - answerable(&after) >= 10);
}

#[tokio::test]
async fn an_owner_learns_that_the_texts_are_in_another_language() {
    let german = "# Wohnsitz\n\nDie Anmeldung des Wohnsitzes erfolgt innerhalb von zwei Wochen nach dem Einzug im \
                  Bürgeramt der Stadt. Bitte bringen Sie Ihren Ausweis und die Bestätigung des Vermieters mit.\n";
    let bench = Bench::new(&[("wohnsitz.md", german)]);
    let report = bench.open().refresh().await.unwrap();
    assert_eq!(
        report.warnings,
        ["the texts look german, but are analysed as English: set language = \"german\" in the source"]
    );
}
