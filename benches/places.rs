//! The embedded gazetteer: unpacking it is measured once, then queries of each sort.

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to say")]

use std::{hint::black_box, time::Instant};

use askback::sources::places::gazetteer::Gazetteer;
use criterion::{Criterion, criterion_group, criterion_main};

const QUERIES: [(&str, &str); 8] = [
    ("a name", "Springfield"),
    ("a qualified name", "Springfield, Illinois"),
    ("a question", "Where is San José, Costa Rica?"),
    ("a beginning", "Ouagadou"),
    ("one slip", "Budapset"),
    ("two slips", "Copenhaagn"),
    ("a point", "48.85, 2.35"),
    ("nothing", "restaurants that are open late at night"),
];

fn queries(c: &mut Criterion) {
    let started = Instant::now();
    let gazetteer = Gazetteer::shared().expect("the gazetteer");
    #[allow(clippy::print_stdout, reason = "a figure beside criterion's")]
    {
        println!("unpacking: {:.0?}", started.elapsed());
    }
    for (name, query) in QUERIES {
        c.bench_function(&format!("places: {name}"), |b| {
            b.iter(|| gazetteer.search(black_box(query), 10, true))
        });
    }
}

criterion_group!(benches, queries);
criterion_main!(benches);
