//! The MCP adapter: a thin layer that turns protocol requests into use cases of
//! [`crate::service`] and their outcomes into protocol results. Decides nothing about data.

mod handler;
mod prompts;
mod resources;
mod rounds;
mod schema;
mod tools;
mod wire;

pub use handler::Handler;
