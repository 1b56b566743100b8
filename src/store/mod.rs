//! Durable state on disk.
