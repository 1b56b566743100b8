//! The bundled embedding: a query of twelve words, and a batch of passages.

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to say")]

use std::hint::black_box;

use askback::search::embedding::MiniLm;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn embedding(criterion: &mut Criterion) {
    let embedding = MiniLm::load().expect("the bundled weights");
    let query = "how do two replicas share the key that seals request states";
    criterion.bench_function("embed a query of 11 words", |bencher| {
        bencher.iter(|| embedding.embed_one(black_box(query)));
    });
    // About 128 tokens each.
    let passage =
        "the wing of the aircraft is subject to aerodynamic heating at supersonic speeds ".repeat(9);
    let passages = vec![passage.as_str(); 32];
    let mut group = criterion.benchmark_group("ingest");
    group.throughput(Throughput::Elements(32)).sample_size(10);
    group.bench_function("embed 32 passages", |bencher| {
        bencher.iter(|| embedding.embed_batch(black_box(&passages)))
    });
    group.finish();
}

criterion_group!(benches, embedding);
criterion_main!(benches);
