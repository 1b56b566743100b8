//! The bundled embedding: a query of twelve words, and a batch of passages.

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to say")]

use std::hint::black_box;

use askback::search::{
    embedder::Embedder,
    embedding::{Isa, MiniLm},
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

fn embedding(criterion: &mut Criterion) {
    // A hundred and twenty-eight tokens, the two special ones included.
    let passage = "the wing of an aircraft is hot at high speed ".repeat(12) + "in thin air over the land";
    let passages = vec![passage.as_str(); 32];
    let query = "how do two replicas share the key that seals their request states";
    for isa in Isa::available() {
        let embedding = MiniLm::with_isa(isa).expect("the bundled weights");
        assert_eq!(embedding.count_tokens(&passage) + 2, 128);
        criterion.bench_function(&format!("embed a query of 12 words/{isa:?}"), |bencher| {
            bencher.iter(|| embedding.embed_one(black_box(query)));
        });
        let mut group = criterion.benchmark_group("embed 32 passages of 128 tokens");
        group.throughput(Throughput::Elements(32)).sample_size(10);
        group.bench_function(format!("{isa:?}"), |bencher| {
            bencher.iter(|| embedding.embed_batch(black_box(&passages)))
        });
        group.finish();
    }
}

criterion_group!(benches, embedding);
criterion_main!(benches);
