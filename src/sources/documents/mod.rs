//! The `documents` kind: a hybrid index over files, kept up to date as they change.
//!
//! [`scan`] finds files, [`readers`] understand them, [`draft`] tells what changed, [`ingest`] turns
//! that into a new [`version`] of the index. [`contribute`] takes what agents write and puts it above the
//! version in force; [`contents`] is both together, and what answers. [`expand`] reads on, and [`source`]
//! is the [`super::Source`] that ties them together. [`inspect`] lays it open for measurement.

mod calibrate;
mod contents;
mod contribute;
mod contributed;
mod draft;
mod embed;
mod expand;
mod ingest;
mod inspect;
mod readers;
mod scan;
mod settings;
mod source;
mod version;

pub use inspect::{Inspector, Seen};
pub use settings::DocumentsSettings;

use super::registry::{Family, KindEntry};

/// The kind, as the registry knows it.
pub static KIND: KindEntry = KindEntry {
    name: "documents",
    family: Family::Document,
    schema: settings::schema,
    check: settings::check,
    trust: settings::trust,
    open: source::open,
};
