//! A reranker has a say in the order, and no say in whether there is an answer.

use std::time::Duration;

use askback::sources::Evidence;
use serde_json::json;

use super::{
    stub::Does,
    support::{Bench, Opened, options, reranker},
};

const FILES: &[(&str, &str)] = &[
    ("a.md", "# Mining\n\nThe mine, the mine and the shaft of the mine."),
    ("b.md", "# Geology\n\nThe mine has gold."),
    ("c.md", "# Tools\n\nA mine needs a pick, a lamp and patience."),
    ("d.md", "# Cats\n\nCats sleep near a mine of warmth, gold or not, at length and in the sun."),
    ("e.md", "# Boats\n\nThe ferry leaves at dawn."),
];

async fn opened(bench: &Bench, reranked: bool) -> Opened {
    let source = bench.open_with(options(&bench.stub), reranked.then(|| reranker(&bench.stub)));
    source.refresh().await.unwrap();
    bench.stub.taken();
    source
}

#[tokio::test]
async fn the_first_passages_are_blended_and_the_gate_sees_what_it_saw() {
    let bench = Bench::new(FILES);
    let (plain, reranked) = (opened(&bench, false).await, opened(&bench, true).await);
    let (before, after) = (plain.search("mine").await.unwrap(), reranked.search("mine").await.unwrap());
    let documents = |hits: &[askback::sources::Hit]| {
        hits.iter().map(|hit| (hit.document.clone(), hit.score)).collect::<Vec<_>>()
    };
    let (before_hits, after_hits) = (documents(&before.hits), documents(&after.hits));
    let gold = before_hits.iter().position(|hit| hit.0 == "b.md").unwrap();
    assert!(gold > 0 && gold < 3, "{before_hits:?}");
    // ½·fused + ½·1: what mentions gold is the best of the three that were looked at.
    assert_eq!(after_hits[0].0, "b.md");
    assert!((after_hits[0].1 - (0.5 * before_hits[gold].1 + 0.5)).abs() < 1e-5);
    // The rest keeps its order, below.
    assert_eq!(
        after_hits[3..].iter().map(|h| &h.0).collect::<Vec<_>>(),
        before_hits[3..].iter().map(|h| &h.0).collect::<Vec<_>>()
    );
    assert!(after_hits.is_sorted_by(|a, b| a.1 >= b.1), "{after_hits:?}");

    let (Evidence::Ranked(before), Evidence::Ranked(after)) = (before.evidence, after.evidence) else {
        panic!("not ranked")
    };
    assert_eq!(format!("{:?}", before.signals), format!("{:?}", after.signals));
    // Likeness goes with the order that is shown: b was at `gold`, and is first now.
    let (was, is) = (
        before_hits.iter().map(|hit| hit.0.as_str()).collect::<Vec<_>>(),
        after_hits.iter().map(|hit| hit.0.as_str()).collect::<Vec<_>>(),
    );
    for (i, a) in is.iter().enumerate() {
        for (j, b) in is.iter().enumerate() {
            let at = |name: &str| was.iter().position(|other| *other == name).unwrap();
            assert_eq!(after.similarity.get(i, j), before.similarity.get(at(a), at(b)));
        }
    }

    let asked = bench.stub.taken();
    let request = &asked.iter().find(|request| request.body["documents"].is_array()).unwrap().body;
    assert_eq!((&request["query"], &request["top_n"]), (&json!("mine"), &json!(3)));
    // With its title, as it is indexed.
    assert!(request["documents"].as_array().unwrap().contains(&json!("Geology\nThe mine has gold.")));
}

#[tokio::test]
async fn without_it_the_order_is_as_it_was_and_after_three_failures_it_rests() {
    let bench = Bench::new(FILES);
    let plain = opened(&bench, false).await.found("mine").await;
    let reranked = opened(&bench, true).await;
    // The query's vector is known from here on, so that a search is one request.
    reranked.found("mine").await;
    bench.stub.taken();
    let failures = [
        Does::Late(Duration::from_secs(3)),
        Does::Status(500, None),
        Does::But(|answer| answer["results"] = json!([{"index": 0, "relevance_score": "high"}])),
    ];
    for failure in failures {
        bench.stub.script([failure]);
        assert_eq!(reranked.found("mine").await, plain);
        assert_eq!(bench.stub.taken().len(), 1);
    }
    assert_eq!(reranked.found("mine").await, plain);
    assert_eq!(bench.stub.taken().len(), 0, "it is not asked while it rests");
}

#[tokio::test]
async fn one_success_in_between_starts_the_count_again() {
    let bench = Bench::new(FILES);
    let reranked = opened(&bench, true).await;
    reranked.found("mine").await;
    for _ in 0..2 {
        for _ in 0..2 {
            bench.stub.script([Does::Status(503, None)]);
            reranked.found("mine").await;
        }
        assert_eq!(reranked.found("mine").await[0], "b.md");
    }
}
