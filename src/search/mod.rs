//! Parts of the embedded hybrid index: chunking, analysis, BM25, dense vectors, fusion, and the
//! embedding. Knows texts and numbers; knows neither sources, callers nor the protocol.

pub mod chunking;
