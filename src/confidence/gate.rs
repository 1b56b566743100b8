//! The decision to answer or to ask.
