//! `askback ask`: a terminal MCP client. Shows what an agent sees, and when the service asks,
//! asks the person at the terminal.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use rmcp::{
    ServiceExt,
    model::{CallToolRequestParams, ClientConfig, Implementation, ProtocolVersion},
    service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::oneshot};

use super::{CliError, progress::Bar, say, start, terminal::Terminal};
use crate::{
    access::Caller,
    config::Settings,
    http::{self, Readiness},
    identity::{Identity, KnownToken, Tokens, tokens},
    telemetry,
};

/// Ask a question at the terminal, and be asked back.
#[derive(Args)]
pub(super) struct Ask {
    /// The question.
    question: String,
    /// Slug of the source to search; every source if none is named.
    #[arg(long)]
    source: Option<String>,
    /// Address of a running service, such as http://127.0.0.1:8080/mcp; without it, the service is
    /// started in this process.
    #[arg(long)]
    url: Option<String>,
    /// Bearer token for --url. Better put into the variable: others see the command line.
    #[arg(long, env = "ASKBACK_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Without --url: a group to be in, to see what its members see. Can be given several times.
    #[arg(long, conflicts_with = "url")]
    group: Vec<String>,
    /// Protocol to speak.
    #[arg(long, value_enum, default_value_t = Era::Auto)]
    era: Era,
    /// How many hits to show.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=50))]
    top_k: Option<u32>,
    /// Show the signals behind the decision.
    #[arg(long)]
    explain: bool,
    /// Print the tool's result as JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Era {
    /// What both sides know best.
    Auto,
    /// 2026-07-28: stateless rounds.
    Modern,
    /// 2025-11-25: a session and its back-channel.
    Legacy,
}

type Client = RunningService<RoleClient, Terminal>;

pub(super) async fn run(
    arguments: Ask,
    settings: impl Fn() -> Result<Settings, CliError>,
) -> Result<(), CliError> {
    if let Some(url) = arguments.url.clone() {
        return converse(&arguments, &url, arguments.token.as_deref()).await;
    }
    let token = tokens::mint().map_err(|error| CliError::failed("making a token", error))?;
    let (url, stop) = serve_here(settings()?, &token, &arguments.group).await?;
    let result = converse(&arguments, &url, Some(&token)).await;
    // Dropped or sent, it stops the service.
    let _ = stop.send(());
    result
}

/// Starts the service in this process, on a port of its own, with its sources up to date. It is for
/// whoever has `token`, a member of `groups`, and for nobody else on the machine.
async fn serve_here(
    mut settings: Settings,
    token: &str,
    groups: &[String],
) -> Result<(String, oneshot::Sender<()>), CliError> {
    settings.log.level = "error".to_owned();
    telemetry::init(&settings.log).map_err(CliError::Usage)?;
    let started = start(&settings)?;
    for entry in started.registry.entries() {
        if let Err(error) = entry.refresh(Arc::new(Bar::new(entry.slug()))).await {
            super::complain(&format!("source {}: {error}", entry.slug()));
        }
    }
    let caller = Caller {
        subject: "operator".to_owned(),
        groups: groups.iter().cloned().collect(),
        ..Caller::anonymous()
    };
    let known = KnownToken { sha256: tokens::digest(token), caller, expires_at: None };
    let only = Arc::new(Identity::Tokens(Tokens::new(vec![known])));
    let failed = |error| CliError::failed("listening", error);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let stopped = async move {
            let _ = stopped.await;
        };
        http::serve(listener, &settings.server, started.handler, only, Readiness::default(), stopped).await
    });
    Ok((format!("http://{address}/mcp"), stop))
}

async fn converse(arguments: &Ask, url: &str, token: Option<&str>) -> Result<(), CliError> {
    let client = connect(arguments.era, url, token).await?;
    let mut call = serde_json::Map::from_iter([("query".to_owned(), json!(arguments.question))]);
    call.extend(arguments.source.as_ref().map(|source| ("source".to_owned(), json!(source))));
    call.extend(arguments.top_k.map(|top_k| ("top_k".to_owned(), json!(top_k))));
    let mut request = CallToolRequestParams::new("retrieve");
    request.arguments = Some(call);
    let result =
        client.call_tool(request).await.map_err(|error| CliError::failed("calling retrieve", error))?;
    let text = result.content.first().and_then(|content| content.as_text()).map(|text| text.text.clone());
    let _ = client.cancel().await;
    let Some(shown) = result.structured_content else {
        return Err(CliError::Failed(refused(&text.unwrap_or_default())));
    };
    if arguments.json {
        say(&shown.to_string());
    } else {
        show(&shown, arguments.explain);
    }
    Ok(())
}

async fn connect(era: Era, url: &str, token: Option<&str>) -> Result<Client, CliError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = token.map(str::to_owned);
    let transport = StreamableHttpClientTransport::from_config(config);
    let modern = vec![ProtocolVersion::V_2026_07_28];
    let result = match era {
        Era::Legacy => Terminal.serve(transport).await,
        Era::Modern => {
            let lifecycle = ClientLifecycleMode::Discover { preferred_versions: modern };
            Terminal.serve_with_lifecycle(transport, lifecycle).await
        }
        Era::Auto => {
            let lifecycle = ClientLifecycleMode::Auto { preferred_versions: modern, legacy_version: None };
            Terminal.serve_with_lifecycle(transport, lifecycle).await
        }
    };
    result.map_err(|error| CliError::failed(&format!("connecting to {url}"), error))
}

/// What this client says of itself.
pub(super) fn identity() -> ClientConfig {
    let capabilities = rmcp::model::ClientCapabilities::builder().enable_elicitation().build();
    ClientConfig::new(capabilities, Implementation::new("askback-ask", env!("CARGO_PKG_VERSION")))
}

/// A tool failure in words.
fn refused(text: &str) -> String {
    let failure: Value = serde_json::from_str(text).unwrap_or_default();
    match failure.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => text.to_owned(),
    }
}

/// Prints a result for a person.
fn show(result: &Value, explain: bool) {
    let text = |pointer: &str| result.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let list = |pointer: &str| result.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    for hit in list("/hits") {
        let field = |name: &str| hit.get(name).and_then(Value::as_str).unwrap_or_default();
        let rank = hit.get("rank").and_then(Value::as_u64).unwrap_or_default();
        let section = match field("section") {
            "" => String::new(),
            section => format!(" › {section}"),
        };
        say(&format!("\n{rank}. {}{section}   [{}]", field("title"), field("reference")));
        for line in wrap(&crate::text::excerpt(field("text"), 400), 92) {
            say(&format!("   {line}"));
        }
    }
    let probability = result.pointer("/confidence/probability").and_then(Value::as_f64).unwrap_or_default();
    let reasons: Vec<String> =
        list("/confidence/reasons").iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let because =
        if reasons.is_empty() { String::new() } else { format!(", because {}", reasons.join(", ")) };
    say(&format!(
        "\n{} · confidence {} ({probability:.2}){because} · clarification: {}",
        text("/status"),
        text("/confidence/level"),
        text("/clarification/outcome"),
    ));
    let alternatives = list("/alternatives");
    if !alternatives.is_empty() {
        say("also found:");
        for choice in alternatives {
            let field = |name: &str| choice.get(name).and_then(Value::as_str).unwrap_or_default();
            say(&format!("   {}   [{}]", field("label"), field("reference")));
        }
    }
    if explain {
        say(&format!(
            "{}\n{:#}",
            text("/confidence/explanation"),
            result.pointer("/confidence/signals").unwrap_or(&Value::Null)
        ));
    }
}

/// Breaks text at spaces into lines of at most `width` characters.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
