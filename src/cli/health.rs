//! `askback health`: what a container's health check runs. Needs no shell and no curl in the image.

use std::{net::SocketAddr, time::Duration};

use clap::Args;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{CliError, say};
use crate::config::Settings;

/// Ask a running service whether it is ready.
#[derive(Args)]
pub(super) struct Health {
    /// Address of the service, such as 127.0.0.1:8080; by default where the configuration says.
    #[arg(long)]
    address: Option<SocketAddr>,
}

/// A service that cannot answer in this time is not healthy.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) async fn run(
    arguments: &Health,
    settings: impl Fn() -> Result<Settings, CliError>,
) -> Result<(), CliError> {
    let mut address = match arguments.address {
        Some(address) => address,
        None => settings()?.server.address,
    };
    // "Every interface" is where it listens, not where it can be reached.
    if address.ip().is_unspecified() {
        address.set_ip(if address.is_ipv4() {
            [127, 0, 0, 1].into()
        } else {
            std::net::Ipv6Addr::LOCALHOST.into()
        });
    }
    let answer = tokio::time::timeout(PATIENCE, ready(address))
        .await
        .map_err(|_| CliError::Failed(format!("{address} did not answer in {} s", PATIENCE.as_secs())))?
        .map_err(|error| CliError::failed(&format!("{address} cannot be reached"), error))?;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    if head.starts_with("HTTP/1.1 200") {
        say("ready");
        Ok(())
    } else {
        Err(CliError::Failed(format!("{address} is not ready: {}", body.trim())))
    }
}

/// One request, spoken by hand: a client library would be most of the image.
async fn ready(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = Vec::new();
    stream.take(64 * 1024).read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
