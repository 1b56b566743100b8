//! A documents source whose vectors come from elsewhere: what it does while nobody answers, and
//! when somebody else does.

use askback::{
    search::embedder::Embedding,
    sources::{Health, SourceError},
};

use super::{
    stub::{Does, Request},
    support::{Bench, Opened, options},
};

const CATS: &str = "# Cats\n\nA cat sleeps on the warm windowsill.\n";
const BOATS: &str = "# Boats\n\nThe ferry crosses the strait at dawn.\n";

/// Passages among what was asked for: neither queries nor canaries.
fn passages(requests: &[Request]) -> usize {
    let texts = requests.iter().flat_map(Request::input);
    texts.filter(|text| text.starts_with("passage: ") && !text.contains("canary")).count()
}

async fn unavailable(source: &Opened, query: &str) -> String {
    match source.search(query).await {
        Err(SourceError::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn opens_from_what_was_there_and_asks_only_for_the_query() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    let source = bench.open();
    assert!(matches!(source.status().health, Health::Preparing(_)));
    assert!(source.refresh().await.unwrap().changed);
    assert_eq!(source.found("ferry at dawn").await[0], "boats.md");
    assert_eq!(passages(&bench.stub.taken()), 2);

    let source = bench.open();
    assert_eq!(source.status().health, Health::Healthy);
    assert!(bench.stub.taken().is_empty());
    assert_eq!(source.found("ferry at dawn").await[0], "boats.md");
    assert_eq!(bench.stub.taken().len(), 1);
    assert!(!source.refresh().await.unwrap().changed);
    assert_eq!(passages(&bench.stub.taken()), 0);
}

#[tokio::test]
async fn starts_while_the_service_is_down_and_recovers_at_the_next_refresh() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let down = || bench.stub.script(vec![Does::Status(503, None); 100]);
    down();
    let source = bench.open();
    assert!(matches!(source.refresh().await, Err(SourceError::Unavailable(_))));
    assert_eq!(
        source.status().health,
        Health::Unhealthy("its embedding service is overloaded or failing".to_owned())
    );
    assert_eq!(unavailable(&source, "cat").await, "its embedding service is overloaded or failing");
    bench.stub.behave();
    assert!(source.refresh().await.unwrap().changed);
    assert_eq!(
        (source.status().health, source.found("cat").await),
        (Health::Healthy, vec!["cats.md".to_owned()])
    );

    // With an index, too, no query can be judged without a vector; references go on working.
    let reference = source.search("cat").await.unwrap().hits[0].reference.clone();
    down();
    assert_eq!(unavailable(&source, "warm").await, "its embedding service is overloaded or failing");
    assert!(matches!(source.status().health, Health::Unhealthy(_)));
    assert!(source.source.locate(&reference).await.is_ok());
    assert!(source.refresh().await.is_err());
    bench.stub.behave();
    assert_eq!(source.found("warm").await, ["cats.md"]);
    assert_eq!(source.status().health, Health::Healthy);
}

#[tokio::test]
async fn a_service_nobody_listens_for_is_named_to_callers_without_its_address() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let mut options = options(&bench.stub);
    options.endpoint.url = "http://127.0.0.1:9/v1/embeddings".parse().unwrap();
    let source = bench.open_with(options, None);
    let error = source.refresh().await.unwrap_err().to_string();
    assert_eq!(error, "its embedding service cannot be reached");
}

#[tokio::test]
async fn a_model_replaced_behind_its_name_makes_everything_anew() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    let source = bench.open();
    source.refresh().await.unwrap();
    let first = source.status().index_version;
    bench.stub.taken();

    bench.stub.change(|model| model.seed = 8);
    let report = source.refresh().await.unwrap();
    assert_eq!((report.changed, report.added, report.updated), (true, 0, 0));
    assert_eq!(passages(&bench.stub.taken()), 2);
    assert_ne!(source.status().index_version, first);
    assert_eq!(source.found("ferry at dawn").await[0], "boats.md");
    let hit = &source.search("cat").await.unwrap().hits[0];
    assert!(hit.provenance.recipe_version.contains("+remote:words:"), "{}", hit.provenance.recipe_version);
    assert!(!source.refresh().await.unwrap().changed);

    // Another process knows at once which model it is, and asks for nothing.
    bench.stub.taken();
    assert_eq!(bench.open().status().health, Health::Healthy);
    assert!(bench.stub.taken().is_empty());

    // A model that was gone for a moment, as seen by another source, is the same when it is back.
    let seen = |seed| bench.stub.change(|model| model.seed = seed);
    seen(9);
    source.embedding.current().unwrap();
    seen(8);
    assert!(!source.refresh().await.unwrap().changed);
    assert_eq!(source.found("a cat at dawn").await.len(), 2);
    bench.stub.taken();

    // The old model's vectors were kept, so going back costs nothing.
    bench.stub.change(|model| model.seed = 7);
    assert!(source.refresh().await.unwrap().changed);
    assert_eq!(passages(&bench.stub.taken()), 0);
    assert_eq!(source.found("ferry at dawn").await[0], "boats.md");
}

#[tokio::test]
async fn another_dimension_is_another_model() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    let source = bench.open();
    source.refresh().await.unwrap();
    bench.stub.change(|model| model.dimensions = 96);
    assert!(unavailable(&source, "cat").await.contains("have to be embedded again"));
    assert!(matches!(source.status().health, Health::Unhealthy(_)));
    assert!(source.refresh().await.unwrap().changed);
    assert_eq!(source.found("ferry at dawn").await[0], "boats.md");
    assert_eq!(source.status().health, Health::Healthy);
}

#[tokio::test]
async fn a_model_replaced_half_way_through_is_noticed_and_nothing_is_put_in_force() {
    let bench = Bench::new(&[("cats.md", CATS)]);
    let source = bench.open();
    source.refresh().await.unwrap();
    let version = source.status().index_version;
    for n in 0..40 {
        bench.write(&format!("{n}.md"), &format!("# {n}\n\nPage {n} about something.\n"));
    }
    // The canary and the first batch are of the old model, the second batch is not.
    bench.stub.script([
        Does::But(|_| {}),
        Does::But(|_| {}),
        Does::But(|answer| answer["model"] = "words-2".into()),
    ]);
    assert!(matches!(source.refresh().await, Err(SourceError::Unavailable(_))));
    assert_eq!(source.status().index_version, version);
    assert!(source.refresh().await.unwrap().changed);
    assert_eq!(source.status().documents, 41);
}

#[tokio::test]
async fn changed_prefixes_embed_everything_again() {
    let bench = Bench::new(&[("cats.md", CATS), ("boats.md", BOATS)]);
    bench.open().refresh().await.unwrap();
    bench.stub.taken();
    let mut options = options(&bench.stub);
    options.passage_prefix = "passage: of ours: ".to_owned();
    let source = bench.open_with(options, None);
    assert!(matches!(source.status().health, Health::Preparing(_)));
    assert!(source.refresh().await.unwrap().changed);
    assert_eq!(passages(&bench.stub.taken()), 2);
}

#[tokio::test]
async fn a_source_of_some_size_is_calibrated_with_queries() {
    let bench = Bench::new(&[]);
    for n in 0..60 {
        let text: Vec<String> = (0..30).map(|word| format!("topic{n}word{word}")).collect();
        bench.write(&format!("{n}.md"), &format!("# Topic {n}\n\n{}\n", text.join(" ")));
    }
    bench.stub.change(|model| model.dimensions = 512);
    let source = bench.open();
    source.refresh().await.unwrap();
    let calibration = source.status().calibration.unwrap();
    assert!(calibration.embedding.as_ref().is_some_and(|id| id.contains(":512:")));
    let requests = bench.stub.taken();
    let queries = requests.iter().flat_map(Request::input).filter(|text| text.starts_with("query: ")).count();
    assert!(queries > 300, "{queries}");
    assert_eq!(passages(&requests), 60);
}
