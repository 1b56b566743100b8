//! askback: an MCP retrieval service that asks back instead of handing an agent weak results.
//!
//! The map of the house. Dependencies point one way:
//! `cli → http → mcp → service → {sources, confidence, access, dialogue} → {search, store}`.
//!
//! | module | owns |
//! |---|---|
//! | [`config`] | settings: files and environment, raw values turned into validated ones |
//! | [`cli`] | the commands, one file each |
//! | [`http`] | the axum app: routes, bearer tokens, Host and Origin, sessions, probes, drain |
//! | [`identity`] | who a bearer token speaks for: listed tokens, tokens of an OAuth issuer |
//! | [`limits`] | how much one caller, and all of them together, may ask |
//! | [`mcp`] | the protocol adapter: tools, both eras' rounds, errors on the wire |
//! | [`service`] | the six use cases; knows callers and sources, neither MCP nor HTTP |
//! | [`dialogue`] | questions, answers, and the sealed state between rounds |
//! | [`confidence`] | signals, calibration, reasons, the gate |
//! | [`sources`] | the [`sources::Source`] trait, the registry, one folder per kind |
//! | [`search`] | parts of the embedded hybrid index: chunking, lexical, dense, fusion, embedding |
//! | [`evaluation`] | measuring retrieval and the gate on labelled queries |
//! | [`access`] | who is calling and what they may do |
//! | [`store`] | durable state on disk: corpora, and what all processes of a deployment share |
//! | [`notify`] | telling the outside, over a webhook |
//! | [`telemetry`] | logs |
//! | [`text`], [`random`] | small helpers that many rooms need |

pub mod access;
pub mod cli;
pub mod confidence;
pub mod config;
pub mod dialogue;
pub mod evaluation;
pub mod http;
pub mod identity;
pub mod limits;
pub mod mcp;
pub mod notify;
pub mod random;
pub mod search;
pub mod service;
pub mod sources;
pub mod store;
pub mod telemetry;
pub mod text;
