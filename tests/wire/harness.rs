//! A real server on a port of its own, and real clients to call it with.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use askback::{
    cli::start,
    config::{self, Settings, StateKey},
    http::{self, Readiness},
    sources::Quiet,
};
use rmcp::{
    ClientHandler, ErrorData, RoleClient, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
        ElicitResult, ElicitationAction, Implementation, ProtocolVersion,
    },
    service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService},
    transport::{StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig},
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::OnceCell, sync::oneshot};

/// A word of no document of the corpus.
pub const FOREIGN: &str = "newborn";
/// Fits several documents of the corpus.
pub const VAGUE: &str = "timeout";
/// Fits one document of the corpus.
pub const CLEAR: &str = "how long may parents take parental leave";

/// A server that runs until it is dropped.
pub struct Server {
    pub url: String,
    _stop: oneshot::Sender<()>,
}

/// Settings over the shared corpus, indexed once for all tests of the binary.
pub async fn settings() -> Settings {
    // The clients are built without a TLS provider of their own. A second test finds it installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    static FOLDER: OnceCell<PathBuf> = OnceCell::const_new();
    let folder = FOLDER
        .get_or_init(|| async {
            let folder = tempfile::tempdir().unwrap().keep();
            let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/wire/corpus.jsonl");
            let toml = format!(
                "[data]\ndir = {:?}\n[[sources]]\nslug = \"wiki\"\nkind = \"documents\"\nname = \"Company wiki\"\n\
                 description = \"How things are done here.\"\npath = {corpus:?}\n[sources.card]\nowner = \"Wiki team\"\n\
                 sample_queries = [\"How long is parental leave?\"]\n",
                folder.join("data")
            );
            std::fs::write(folder.join("default.toml"), toml).unwrap();
            let settings = config::load(&folder).unwrap();
            for entry in start(&settings).unwrap().registry.entries() {
                entry.refresh(Arc::new(Quiet)).await.unwrap();
            }
            folder
        })
        .await;
    let mut settings = config::load(folder).unwrap();
    settings.clarify.state_keys = vec![key("shared", 1)];
    settings
}

/// Settings over a data folder of one's own, and small sources by slug and what is said of each in its
/// table. All are indexed.
pub async fn own(sources: &[(&str, &str)]) -> Settings {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap().keep();
    let mut toml = format!("[data]\ndir = {:?}\n", folder.join("data"));
    for (slug, said) in sources {
        let corpus = folder.join(format!("{slug}.jsonl"));
        let records = [
            json!({"_id": "printer", "title": "Printers", "text": format!("The printers of {slug} take A4 paper.")}),
            json!({"_id": "coffee", "title": "Coffee", "text": format!("Coffee beans of {slug} are in the cupboard.")}),
        ];
        std::fs::write(&corpus, records.map(|record| record.to_string() + "\n").concat()).unwrap();
        toml.push_str(&format!(
            "[[sources]]\nslug = \"{slug}\"\nkind = \"documents\"\npath = {corpus:?}\n{said}\n"
        ));
    }
    std::fs::write(folder.join("default.toml"), toml).unwrap();
    let mut settings = config::load(&folder).unwrap();
    settings.clarify.state_keys = vec![key("shared", 1)];
    for entry in start(&settings).unwrap().registry.entries() {
        entry.refresh(Arc::new(Quiet)).await.unwrap();
    }
    settings
}

/// Settings of sources that are written down as they are, over a data folder of one's own.
pub async fn settings_of(sources: &str) -> Settings {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let folder = tempfile::tempdir().unwrap().keep();
    let toml = format!("[data]\ndir = {:?}\n{sources}", folder.join("data"));
    std::fs::write(folder.join("default.toml"), toml).unwrap();
    let mut settings = config::load(&folder).unwrap();
    settings.clarify.state_keys = vec![key("shared", 1)];
    settings
}

pub fn key(id: &str, byte: u8) -> StateKey {
    StateKey { id: id.into(), secret: vec![byte; 32] }
}

pub async fn serve(settings: Settings) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let started = start(&settings).unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(async move {
        let shutdown = async {
            let _ = stopped.await;
        };
        http::serve(
            listener,
            &settings.server,
            started.handler,
            started.identity,
            Readiness::default(),
            shutdown,
        )
        .await
    });
    Server { url, _stop: stop }
}

pub async fn server() -> Server {
    serve(settings().await).await
}

/// What a scripted user does with each question.
#[derive(Debug, Clone, PartialEq)]
pub enum Does {
    /// Accepts with this content.
    Accept(Value),
    /// Accepts, picking the first option offered.
    PickFirst,
    Decline,
    Cancel,
    /// The client answers with a protocol error.
    Fail,
    /// Never answers.
    Hang,
}

/// A client whose user follows a script; the last line of it is repeated.
#[derive(Clone)]
pub struct User {
    script: Vec<Does>,
    can_be_asked: bool,
    name: String,
    pub asked: Arc<AtomicUsize>,
    pub questions: Arc<Mutex<Vec<Value>>>,
}

impl User {
    pub fn who(script: &[Does]) -> Self {
        Self {
            script: script.to_vec(),
            can_be_asked: true,
            name: "wire-test".into(),
            asked: Arc::default(),
            questions: Arc::default(),
        }
    }

    pub fn unreachable() -> Self {
        Self { can_be_asked: false, ..Self::who(&[Does::Decline]) }
    }

    pub fn named(self, name: &str) -> Self {
        Self { name: name.into(), ..self }
    }

    pub fn times_asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let capabilities = if self.can_be_asked {
            ClientCapabilities::builder().enable_elicitation().build()
        } else {
            ClientCapabilities::default()
        };
        ClientConfig::new(capabilities, Implementation::new(self.name.clone(), "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let n = self.asked.fetch_add(1, Ordering::SeqCst);
        let request = serde_json::to_value(request).unwrap();
        self.questions.lock().unwrap().push(request.clone());
        let accept = |content| Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content));
        match self.script.get(n).or(self.script.last()).cloned().unwrap() {
            Does::Accept(content) => accept(content),
            Does::PickFirst => {
                let choice = &request["requestedSchema"]["properties"]["choice"];
                let first = choice["oneOf"][0]["const"].as_str().or(choice["enum"][0].as_str()).unwrap();
                accept(json!({"choice": first}))
            }
            Does::Decline => Ok(ElicitResult::new(ElicitationAction::Decline)),
            Does::Cancel => Ok(ElicitResult::new(ElicitationAction::Cancel)),
            Does::Fail => Err(ErrorData::internal_error("the form broke", None)),
            Does::Hang => std::future::pending().await,
        }
    }
}

/// The two protocol eras.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Modern,
    Legacy,
}

pub async fn connect(url: &str, era: Era, user: &User) -> RunningService<RoleClient, User> {
    connect_as(url, era, user, None).await
}

/// Connects with a bearer token.
pub async fn connect_as(
    url: &str,
    era: Era,
    user: &User,
    token: Option<&str>,
) -> RunningService<RoleClient, User> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.auth_header = token.map(str::to_owned);
    let transport = StreamableHttpClientTransport::from_config(config);
    match era {
        Era::Legacy => user.clone().serve(transport).await.unwrap(),
        Era::Modern => {
            let lifecycle =
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
            user.clone().serve_with_lifecycle(transport, lifecycle).await.unwrap()
        }
    }
}

/// Calls a tool as a client does.
pub async fn call(url: &str, era: Era, user: &User, tool: &'static str, arguments: Value) -> CallToolResult {
    call_as(url, era, user, None, tool, arguments).await
}

/// Calls a tool with a bearer token.
pub async fn call_as(
    url: &str,
    era: Era,
    user: &User,
    token: Option<&str>,
    tool: &'static str,
    arguments: Value,
) -> CallToolResult {
    let client = connect_as(url, era, user, token).await;
    let mut request = CallToolRequestParams::new(tool);
    request.arguments = arguments.as_object().cloned();
    let result =
        tokio::time::timeout(Duration::from_secs(30), client.call_tool(request)).await.unwrap().unwrap();
    // Clients check results against what the tool promised, and some throw away what breaks it.
    let tools = client.list_all_tools().await.unwrap();
    let promised = tools.iter().find(|defined| defined.name == tool).unwrap().output_schema.clone().unwrap();
    if let Some(structured) = &result.structured_content {
        let schema = jsonschema::validator_for(&Value::Object(promised.as_ref().clone())).unwrap();
        let broken: Vec<String> = schema.iter_errors(structured).map(|error| error.to_string()).collect();
        assert_eq!(broken, [""; 0], "{tool} breaks its output schema");
    }
    client.cancel().await.unwrap();
    result
}

/// The structured content of a result that is no failure.
pub fn content(result: CallToolResult) -> Value {
    assert_eq!(result.is_error, Some(false), "{result:?}");
    let structured = result.structured_content.unwrap();
    // Clients that only read text get the same.
    let text = result.content[0].as_text().unwrap().text.clone();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), structured);
    structured
}

/// A result that is a failure, read.
pub fn failure(result: &CallToolResult) -> Value {
    assert_eq!((result.is_error, &result.structured_content), (Some(true), &None), "{result:?}");
    serde_json::from_str(&result.content[0].as_text().unwrap().text).unwrap()
}

/// The code of a result that is a failure.
pub fn code(result: &CallToolResult) -> String {
    assert_eq!((result.is_error, &result.structured_content), (Some(true), &None), "{result:?}");
    let failure: Value = serde_json::from_str(&result.content[0].as_text().unwrap().text).unwrap();
    assert!(failure["message"].as_str().is_some_and(|message| !message.is_empty()));
    assert!(failure["details"]["request_id"].is_string(), "{failure}");
    failure["code"].as_str().unwrap().to_owned()
}

/// A raw request of 2026-07-28, as it goes over the wire.
pub struct Raw<'a> {
    pub url: &'a str,
    pub params: Value,
    pub capabilities: Value,
    pub token: Option<&'a str>,
}

impl<'a> Raw<'a> {
    pub fn call(url: &'a str, tool: &str, arguments: Value) -> Self {
        Self {
            url,
            params: json!({"name": tool, "arguments": arguments}),
            capabilities: json!({"elicitation": {"form": {}}}),
            token: None,
        }
    }

    /// Sends it with a bearer token.
    pub fn by(self, token: &'a str) -> Self {
        Self { token: Some(token), ..self }
    }

    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.params[key] = value;
        self
    }

    pub fn capabilities(self, capabilities: Value) -> Self {
        Self { capabilities, ..self }
    }

    /// Sends it; the HTTP status and the JSON that came back.
    pub async fn send(&self) -> (u16, Value) {
        let mut params = self.params.clone();
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let mut headers = vec![("mcp-name", self.params["name"].as_str().unwrap_or_default())];
        let bearer = self.token.map(|token| format!("Bearer {token}"));
        headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
        post(self.url, &body, &headers).await
    }
}

/// Posts a body of 2026-07-28.
pub async fn post(url: &str, body: &str, headers: &[(&str, &str)]) -> (u16, Value) {
    let mut request = reqwest::Client::new()
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .body(body.to_owned());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}
