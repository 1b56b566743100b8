//! A whole `tools/call` of retrieve over HTTP, embedding included, on the handbook.

#![allow(clippy::expect_used, reason = "a benchmark that cannot be set up has nothing to say")]

use std::{path::Path, sync::Arc};

use askback::{
    cli::start,
    config,
    http::{self, Readiness},
    sources::Quiet,
};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;

fn call(criterion: &mut Criterion) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let data = tempfile::tempdir().expect("a folder");
    let mut settings = config::load(Path::new("config")).expect("the shipped configuration");
    settings.data.dir = data.path().to_owned();
    let url = runtime.block_on(async {
        let started = start(&settings).expect("a service");
        for entry in started.registry.entries() {
            entry.refresh(Arc::new(Quiet)).await.expect("an index");
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            let never = std::future::pending();
            http::serve(
                listener,
                &settings.server,
                started.handler,
                started.identity,
                Readiness::default(),
                never,
            )
            .await
        });
        url
    });
    let client = reqwest::Client::new();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "retrieve",
        "arguments": {"query": "how do two replicas share the key that seals request states"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
    .to_string();
    criterion.bench_function("retrieve over HTTP", |bencher| {
        bencher.iter(|| {
            runtime.block_on(async {
                let request = client
                    .post(&url)
                    .header("content-type", "application/json")
                    .header("accept", "application/json, text/event-stream")
                    .header("mcp-protocol-version", "2026-07-28")
                    .header("mcp-method", "tools/call")
                    .header("mcp-name", "retrieve");
                let response = request.body(body.clone()).send().await.expect("an answer");
                assert_eq!(response.status(), 200);
                response.bytes().await.expect("a body")
            })
        });
    });
}

criterion_group!(benches, call);
criterion_main!(benches);
