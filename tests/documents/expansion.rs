//! Reading on. Words are tokens here, so every passage below is of 100 tokens: two do not fit into
//! one passage, and nothing is short enough to be joined.

use askback::sources::{Budget, ExpandRequest, SourceError, Strategy};
use rstest::rstest;

use super::support::{Bench, paragraph, positions, reference};

/// Passages: 0 introduction; 1, 2 under Install; 3 under Install › Linux; 4 under Use.
fn guide() -> Bench {
    let text = |word| paragraph(word, 100);
    let content = format!(
        "# Guide\n\n{}\n\n## Install\n\n{}\n\n{}\n\n### Linux\n\n{}\n\n## Use\n\n{}\n",
        text("intro"),
        text("alpha"),
        text("beta"),
        text("gamma"),
        text("delta"),
    );
    Bench::new(&[("guide.md", &content)])
}

#[rstest]
#[case::neighbours("guide.md#2", Strategy::Adjacent, 1, 1000, &[1, 2, 3], false)]
#[case::neighbours_end_with_the_document("guide.md#0", Strategy::Adjacent, 2, 1000, &[0, 1, 2], false)]
#[case::no_window("guide.md#2", Strategy::Adjacent, 0, 1000, &[2], false)]
#[case::section_with_what_is_below("guide.md#1", Strategy::Section, 2, 1000, &[1, 2, 3], false)]
#[case::section_without_what_is_above("guide.md#3", Strategy::Section, 2, 1000, &[3], false)]
#[case::introduction("guide.md#0", Strategy::Section, 2, 1000, &[0], false)]
#[case::document("guide.md#3", Strategy::Document, 2, 1000, &[0, 1, 2, 3, 4], false)]
#[case::outward_after_first("guide.md#2", Strategy::Document, 2, 200, &[2, 3], true)]
#[case::outward_then_before("guide.md#2", Strategy::Document, 2, 399, &[1, 2, 3], true)]
#[case::exactly_enough("guide.md#2", Strategy::Document, 2, 500, &[0, 1, 2, 3, 4], false)]
#[tokio::test]
async fn reads_on(
    #[case] from: &str,
    #[case] strategy: Strategy,
    #[case] window: usize,
    #[case] tokens: usize,
    #[case] expected: &[u32],
    #[case] truncated: bool,
) {
    let bench = guide();
    let source = bench.ready().await;
    let expansion = source.expand(from, strategy, window, tokens).await;
    assert_eq!(positions(&expansion), expected);
    assert_eq!(expansion.truncated, truncated);
    let origins: Vec<String> = expansion
        .passages
        .iter()
        .filter(|passage| passage.is_origin)
        .map(|passage| passage.hit.reference.to_string())
        .collect();
    assert_eq!(origins, [format!("docs/{from}")]);
}

#[tokio::test]
async fn sections_are_named() {
    let bench = guide();
    let source = bench.ready().await;
    let hit = source.0.locate(&reference("guide.md#3")).await.unwrap();
    assert_eq!(hit.section.as_deref(), Some("Install › Linux"));
}

#[tokio::test]
async fn an_origin_too_long_is_cut_between_words() {
    let bench = guide();
    let source = bench.ready().await;
    let expansion = source.expand("guide.md#2", Strategy::Adjacent, 1, 3).await;
    assert!(expansion.truncated);
    let texts: Vec<&str> = expansion.passages.iter().map(|passage| passage.hit.text.as_str()).collect();
    assert_eq!(texts, ["beta0 beta1 beta2"]);
}

fn lookalikes() -> Bench {
    Bench::new(&[
        ("a.md", "# A\n\ncat cat cat dog\n"),
        ("b.md", "# B\n\ncat cat cat mouse\n"),
        ("c.md", "# C\n\ncat boat boat boat\n"),
        ("d.md", "# D\n\nstrait ferry ferry dawn\n"),
    ])
}

fn documents(expansion: &askback::sources::Expansion) -> Vec<&str> {
    expansion.passages.iter().map(|passage| passage.hit.document.as_str()).collect()
}

#[tokio::test]
async fn similar_leads_to_other_documents_nearest_first() {
    let bench = lookalikes();
    let source = bench.ready().await;
    let expansion = source.expand("a.md#0", Strategy::Similar, 2, 1000).await;
    assert_eq!(documents(&expansion), ["a.md", "b.md", "c.md"]);
    assert!(expansion.passages[0].is_origin);
    // Title, three cats and another animal each: 9 / √(1 + 9 + 1)².
    assert!((expansion.passages[1].hit.score - 9.0 / 11.0).abs() < 0.01);
}

#[tokio::test]
async fn similar_minds_the_query() {
    let bench = lookalikes();
    let source = bench.ready().await;
    let request = ExpandRequest {
        reference: reference("a.md#0"),
        strategy: Strategy::Similar,
        query: Some("ferry".to_owned()),
        window: 1,
        budget: Budget { max_tokens: 1000 },
    };
    // Half of the cosine to the query decides: ferry is 2 / √7 of d, of b nothing. To the origin b
    // has 9 / 11 and d nothing: (9/11) / 2 against (2/√7) / 2.
    assert_eq!(documents(&source.0.expand(request.clone()).await.unwrap()), ["a.md", "b.md"]);
    let request = ExpandRequest { query: Some("ferry ferry strait".to_owned()), ..request };
    // (2·2 + 1) / (√5·√7) = 0.845 beats 9 / 11 = 0.818.
    assert_eq!(documents(&source.0.expand(request).await.unwrap()), ["a.md", "d.md"]);
}

#[tokio::test]
async fn what_is_not_offered_or_not_there_is_refused() {
    let bench = guide();
    let source = bench.ready().await;
    let request = |from: &str, strategy| ExpandRequest {
        reference: reference(from),
        strategy,
        query: None,
        window: 2,
        budget: Budget { max_tokens: 100 },
    };
    let error = source.0.expand(request("guide.md#0", Strategy::Entity)).await.unwrap_err();
    assert!(matches!(error, SourceError::StrategyNotSupported { .. }));
    for from in ["../../etc/passwd#0", "guide.md#5", "guide#0"] {
        let error = source.0.expand(request(from, Strategy::Document)).await.unwrap_err();
        assert!(matches!(error, SourceError::ReferenceNotFound(_)), "{from}");
    }
}
