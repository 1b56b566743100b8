//! Ten thousand passages: searching both sides and fusing (without embedding the query), one side
//! alone, and opening the source from disk.

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to say")]

use std::{hint::black_box, sync::Arc};

use askback::{
    config::SourceConfig,
    random::Rng,
    search::{
        analysis::Language,
        dense::{ByteVector, DenseIndex},
        embedder::{EmbedError, Embedder},
        hybrid::HybridIndex,
        lexical::LexicalIndex,
    },
    sources::{
        Quiet,
        registry::{Kind, Registry, Surroundings},
    },
};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;

const PASSAGES: usize = 10_000;
const DIMENSIONS: usize = 384;
const QUERY: &str = "w3 w40 w500 w6000 and nothing else";

/// Random directions, the same for the same text.
struct Random;

impl Embedder for Random {
    fn id(&self) -> &str {
        "random"
    }

    fn dimensions(&self) -> usize {
        DIMENSIONS
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let seed = |text: &str| text.bytes().fold(7u64, |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
        Ok(texts.iter().map(|text| direction(&mut Rng::new(seed(text)))).collect())
    }

    fn count_tokens(&self, text: &str) -> usize {
        text.split_whitespace().count()
    }
}

fn direction(random: &mut Rng) -> Vec<f32> {
    let vector: Vec<f32> = (0..DIMENSIONS).map(|_| random.below(2001) as f32 / 1000.0 - 1.0).collect();
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter().map(|x| x / length).collect()
}

/// Texts of 120 words, few of them common and many rare.
fn texts() -> Vec<String> {
    let mut random = Rng::new(1);
    let mut word = || {
        let ceiling = random.below(20_000) + 1;
        format!("w{}", random.below(ceiling))
    };
    (0..PASSAGES).map(|_| (0..120).map(|_| word()).collect::<Vec<_>>().join(" ")).collect()
}

fn search(criterion: &mut Criterion) {
    let texts = texts();
    let mut random = Rng::new(2);
    let lexical = LexicalIndex::build(None, Language::English, texts.iter()).expect("it is built in memory");
    let vectors = (0..PASSAGES).map(|_| ByteVector::quantize(&direction(&mut random)));
    let index = HybridIndex::new(lexical, DenseIndex::new(DIMENSIONS, vectors));
    let query = direction(&mut random);
    criterion.bench_function("search 10000/hybrid", |b| {
        b.iter(|| index.search(black_box(QUERY), black_box(&query), None).expect("it can be read"));
    });
    criterion.bench_function("search 10000/dense", |b| b.iter(|| index.dense().cosines(black_box(&query))));
    criterion.bench_function("search 10000/lexical", |b| {
        b.iter(|| {
            let terms = index.lexical().terms(black_box(QUERY)).expect("it can be read");
            index.lexical().search(&terms, 100).expect("it can be read")
        });
    });
}

fn open(criterion: &mut Criterion) {
    let files = tempfile::tempdir().expect("there is room");
    let data = tempfile::tempdir().expect("there is room");
    let records: Vec<String> =
        texts().iter().enumerate().map(|(n, text)| json!({"_id": n, "text": text}).to_string()).collect();
    std::fs::write(files.path().join("corpus.jsonl"), records.join("\n")).expect("there is room");
    let settings = json!({"path": files.path()}).as_object().cloned().unwrap_or_default();
    let config = SourceConfig::new("bench", Kind::named("documents").expect("it is registered"), settings);
    let configs = [config];
    let surroundings = Surroundings::new(data.path().to_owned(), Arc::new(Random));
    let runtime = tokio::runtime::Runtime::new().expect("threads can be started");
    let registry = Registry::open(&configs, &surroundings);
    let source = registry.entries().first().expect("there is one");
    runtime.block_on(source.refresh(Arc::new(Quiet))).expect("it can be ingested");
    let mut group = criterion.benchmark_group("open 10000");
    group.sample_size(10);
    group.bench_function("documents", |b| b.iter(|| Registry::open(black_box(&configs), &surroundings)));
    group.bench_function("refresh unchanged", |b| {
        b.iter(|| runtime.block_on(source.refresh(Arc::new(Quiet))).expect("nothing changed"));
    });
}

criterion_group!(benches, search, open);
criterion_main!(benches);
