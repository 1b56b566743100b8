//! `[server]` and `[data]`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::Deserialize;

use super::Problem;

/// `[server]` as written.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RawServer {
    /// Listener of `/mcp`, `/livez` and `/readyz`.
    pub address: String,
    /// Names clients may reach the service by (`Host`), with or without a port.
    pub allowed_hosts: Vec<String>,
    /// Browser origins let in; requests without an `Origin` always pass.
    pub allowed_origins: Vec<String>,
    /// Largest request body.
    #[schemars(with = "String")]
    pub max_body: ByteSize,
    /// Most sessions of clients of 2025-11-25 and before at a time.
    pub max_sessions: usize,
    /// How long calls under way may still take after SIGTERM.
    #[serde(with = "humantime_serde")]
    #[schemars(with = "String")]
    pub drain: Duration,
}

impl Default for RawServer {
    fn default() -> Self {
        Self {
            // Loopback: until somebody decides otherwise, only this machine gets in.
            address: "127.0.0.1:8080".to_owned(),
            allowed_hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec(),
            allowed_origins: Vec::new(),
            // Room for a 1 MiB argument with its JSON escapes.
            max_body: ByteSize::mib(4),
            // Each costs some memory until five minutes after it was last used.
            max_sessions: 1000,
            // Below the 30 s that orchestrators commonly grant before SIGKILL.
            drain: Duration::from_secs(20),
        }
    }
}

/// `[server]`, validated.
#[derive(Debug, Clone)]
pub struct Server {
    /// Where to listen.
    pub address: SocketAddr,
    /// See [`RawServer::allowed_hosts`].
    pub allowed_hosts: Vec<String>,
    /// See [`RawServer::allowed_origins`].
    pub allowed_origins: Vec<String>,
    /// Largest request body, in bytes.
    pub max_body: usize,
    /// See [`RawServer::max_sessions`].
    pub max_sessions: usize,
    /// See [`RawServer::drain`].
    pub drain: Duration,
}

impl RawServer {
    pub(super) fn validate(self, problems: &mut Vec<Problem>) -> Server {
        let address = self.address.parse().unwrap_or_else(|_| {
            problems.push(Problem::new(
                "server.address",
                "must be an IP address and a port, such as 127.0.0.1:8080 or 0.0.0.0:8080",
            ));
            SocketAddr::from(([127, 0, 0, 1], 8080))
        });
        if self.allowed_hosts.is_empty() {
            problems.push(Problem::new(
                "server.allowed_hosts",
                "must name at least one host: without the check, any web page could reach a local service",
            ));
        }
        for origin in &self.allowed_origins {
            if !origin.contains("://") {
                problems.push(Problem::new(
                    "server.allowed_origins",
                    format!("`{origin}` needs a scheme, such as https://app.example.com"),
                ));
            }
        }
        if self.max_body.as_u64() < 1024 {
            problems.push(Problem::new("server.max_body", "must be at least 1KiB"));
        }
        if self.max_sessions == 0 {
            problems.push(Problem::new("server.max_sessions", "must be at least 1"));
        }
        Server {
            address,
            allowed_hosts: self.allowed_hosts,
            allowed_origins: self.allowed_origins,
            max_body: usize::try_from(self.max_body.as_u64()).unwrap_or(usize::MAX),
            max_sessions: self.max_sessions,
            drain: self.drain,
        }
    }
}

/// `[data]`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Data {
    /// Folder for everything askback keeps on disk. Relative to the working directory.
    #[schemars(with = "String")]
    pub dir: PathBuf,
}

impl Default for Data {
    fn default() -> Self {
        Self { dir: PathBuf::from("data") }
    }
}
