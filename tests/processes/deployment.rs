//! A folder with a configuration and a corpus, and processes that work on it.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The folder. Its one source takes writes from everybody.
pub struct Deployment {
    folder: TempDir,
    port: u16,
}

impl Deployment {
    /// `extra` is added to the configuration, within the source's table.
    pub fn new(extra: &str) -> Self {
        // The clients are built without a TLS provider of their own. A second test finds it installed.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("notes");
        fs::create_dir(&notes).unwrap();
        fs::write(notes.join("printer.md"), "# Printer\n\nThe printer on the third floor takes A4 paper.\n")
            .unwrap();
        fs::write(notes.join("coffee.md"), "# Coffee\n\nBeans are in the cupboard next to the sink.\n")
            .unwrap();
        // Free now, and taken again by every process that is started here.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "[server]\naddress = \"127.0.0.1:{port}\"\n[data]\ndir = {:?}\n[log]\nlevel = \"error\"\n\
             [limits]\nwrites_per_minute = 1000000\nreads_per_minute = 1000000\nrequests_per_minute = 1000000\n\
             [[sources]]\nslug = \"notes\"\nkind = \"documents\"\nname = \"Notes\"\npath = {notes:?}\n{extra}\n",
            folder.path().join("data"),
        );
        fs::create_dir(folder.path().join("config")).unwrap();
        fs::write(folder.path().join("config/default.toml"), config).unwrap();
        Self { folder, port }
    }

    pub fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_askback"));
        command.current_dir(self.folder.path()).args(arguments);
        // Settings of whoever runs the tests are none of ours.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("ASKBACK_")) {
            command.env_remove(name);
        }
        command.env_remove("USER");
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Starts a server and waits until it is ready.
    pub async fn serve(&self) -> Process {
        self.serve_at(&self.url()).await
    }

    /// An address for another server.
    pub fn another_url(&self) -> String {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        format!("http://127.0.0.1:{port}/mcp")
    }

    /// Starts a server at an address of its own.
    pub async fn serve_at(&self, url: &str) -> Process {
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
        let mut command = self.command(&["serve"]);
        let child = command.env("ASKBACK__SERVER__ADDRESS", address).stdout(Stdio::null()).spawn().unwrap();
        let mut process = Process(child);
        let ready = url.replace("/mcp", "/readyz");
        let begun = Instant::now();
        loop {
            if reqwest::get(&ready).await.is_ok_and(|answer| answer.status().is_success()) {
                return process;
            }
            assert_eq!(process.0.try_wait().unwrap(), None, "it ended by itself");
            assert!(begun.elapsed() < Duration::from_secs(60), "it does not become ready");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A server, killed when it is dropped.
pub struct Process(Child);

impl Process {
    /// SIGKILL: no time for anything.
    pub fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Calls a tool. `None` if there was no answer, or one of HTTP's own: then nothing was acknowledged.
pub async fn call(client: &reqwest::Client, url: &str, tool: &str, arguments: &Value) -> Option<Value> {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "processes", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": meta}});
    let request = client
        .post(url)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .body(body.to_string());
    let answer = request.send().await.ok().filter(|answer| answer.status().is_success())?;
    let answer: Value = serde_json::from_str(&answer.text().await.ok()?).ok()?;
    Some(answer["result"].clone())
}
