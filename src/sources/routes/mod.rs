//! The `routes` kind: ways between places, several where there are several good ones.
//!
//! [`query`] reads where from and where to, [`ends`] finds those places in a source of places, [`engine`]
//! asks a routing engine, [`describe`] says a route in words and fields, and [`source`] is the
//! [`super::Source`].

mod describe;
mod ends;
mod engine;
mod query;
mod settings;
mod source;

use super::registry::{Family, KindEntry};

/// The kind, as the registry knows it.
pub static KIND: KindEntry = KindEntry {
    name: "routes",
    family: Family::Routes,
    schema: settings::schema,
    check: settings::check,
    trust: settings::trust,
    open: source::open,
};
