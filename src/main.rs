//! askback.
fn main() {}
