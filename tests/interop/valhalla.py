#!/usr/bin/env python3
"""valhalla.py BINARY [DIR]: askback's routes over a real engine, Valhalla 3.9.1.

Installs pyvalhalla's binaries into DIR (default target/interop/valhalla; needs pip and osmium), builds
tiles from two streets whose lengths are known, starts the service, and checks what retrieve and refine
make of it in both eras. What cannot be installed is said to be skipped.

The map: two roads from A (0° N, 0° E) to B (0° N, 0.2° E). North Road goes 0.03° north, 0.2° east and
back south: 0.26°, by 111.195 km a degree 28.911 km. South Road goes 0.04° south: 0.28°, 31.135 km. Both
allow 60 km/h."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(sys.argv[1]).resolve()
DIR = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else ROOT / "target/interop/valhalla").resolve()
PACKAGE = "pyvalhalla==3.9.1"
NORTH, SOUTH = 28_911, 31_135
QUERY = {"query": "from 0.0, 0.0 to 0.0, 0.2", "source": "routes"}
failures = 0


def check(name, passed, shown=""):
    global failures
    failures += not passed
    print(f"{'ok' if passed else 'FAIL'} valhalla {name} {shown if not passed else ''}".rstrip(), flush=True)


def skip(why):
    print(f"skipped: the tests over Valhalla, {why}", flush=True)
    sys.exit(0)


def install():
    """The folder with the binaries."""
    binaries = DIR / "valhalla" / "bin"
    if binaries.is_dir():
        return binaries
    if not shutil.which("osmium"):
        skip("there is no osmium")
    DIR.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
    command += ["--python-version", "3.12", "--platform", "manylinux_2_28_x86_64", "-d", DIR, PACKAGE]
    if subprocess.run(command).returncode:
        skip(f"{PACKAGE} cannot be downloaded")
    with zipfile.ZipFile(next(DIR.glob("pyvalhalla-*.whl"))) as wheel:
        wheel.extractall(DIR)
    for file in binaries.iterdir():
        file.chmod(0o755)
    return binaries


def streets():
    """The map as OSM XML. Every 0.02° a node, as in real data."""
    nodes, ways = [], []

    def node(lat, lon):
        nodes.append((lat, lon))
        return len(nodes)

    a, b = node(0.0, 0.0), node(0.0, 0.2)
    for name, lat in (("North Road", 0.03), ("South Road", -0.04)):
        corners = [node(lat, step * 0.02) for step in range(11)]
        ways.append((name, [a, *corners, b]))
    # Side streets make junctions: an engine looks for other ways where roads meet.
    for name, members in list(ways):
        outward = 0.01 if name == "North Road" else -0.01
        for n, corner in enumerate(members[1:-1], 1):
            lat, lon = nodes[corner - 1]
            ways.append((f"{name} Lane {n}", [corner, node(lat + outward, lon)]))
    for name, end, lon in (("West End", a, -0.02), ("East End", b, 0.22)):
        ways.append((name, [end, node(0.0, lon)]))
    text = ['<osm version="0.6">']
    text += [f'<node id="{n}" lat="{lat:.5f}" lon="{lon:.5f}" version="1"/>' for n, (lat, lon) in enumerate(nodes, 1)]
    for n, (name, members) in enumerate(ways, 1):
        kind = "residential" if "Lane" in name else "primary"
        tags = {"highway": kind, "name": name, "maxspeed": "60"}
        text += [f'<way id="{n}" version="1">', *(f'<nd ref="{member}"/>' for member in members)]
        text += [*(f'<tag k="{k}" v="{v}"/>' for k, v in tags.items()), "</way>"]
    return "\n".join([*text, "</osm>"])


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for(url, process):
    for _ in range(120):
        try:
            urllib.request.urlopen(url, timeout=2)
            return
        except OSError:
            if process.poll() is not None:
                raise SystemExit(f"{url} is not served: its process ended with {process.returncode}")
            time.sleep(0.25)
    raise SystemExit(f"{url} does not answer")


def engine(binaries, folder, port):
    (folder / "map.osm").write_text(streets())
    subprocess.run(["osmium", "cat", folder / "map.osm", "-o", folder / "map.osm.pbf"], check=True)
    script = binaries.parent / "valhalla_build_config.py"
    made = subprocess.run([sys.executable, script, "--mjolnir-tile-dir", folder / "tiles"], check=True, capture_output=True)
    config = json.loads(made.stdout)
    config["mjolnir"].update(tile_extract="", admin="", timezone="", traffic_extract="")
    config["httpd"]["service"]["listen"] = f"tcp://127.0.0.1:{port}"
    (folder / "valhalla.json").write_text(json.dumps(config))
    log = open(folder / "valhalla.log", "w")
    build = [binaries / "valhalla_build_tiles", "-c", folder / "valhalla.json", folder / "map.osm.pbf"]
    subprocess.run(build, check=True, stdout=log, stderr=log)
    serve = [binaries / "valhalla_service", "--inproc-sockets", folder / "valhalla.json", "1"]
    process = subprocess.Popen(serve, stdout=log, stderr=log)
    wait_for(f"http://127.0.0.1:{port}/status", process)
    return process


def askback(folder, port, valhalla):
    (folder / "config").mkdir()
    (folder / "config" / "default.toml").write_text(
        f'[server]\naddress = "127.0.0.1:{port}"\n[data]\ndir = {json.dumps(str(folder / "data"))}\n'
        f'[[sources]]\nslug = "places"\nkind = "places"\n'
        f'[[sources]]\nslug = "routes"\nkind = "routes"\nengine = "valhalla"\nurl = "http://127.0.0.1:{valhalla}"\n'
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASKBACK")}
    command = [BINARY, "--config", folder / "config", "serve"]
    process = subprocess.Popen(command, env=environment, stderr=open(folder / "askback.log", "w"))
    wait_for(f"http://127.0.0.1:{port}/readyz", process)
    return process


def call(port, tool, arguments, can=None, **more):
    """The result of one round of 2026-07-28."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "valhalla", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}} if can else {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta, **more}
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/mcp", body, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)["result"]


def near(value, expected):
    # A sphere and an ellipsoid differ by up to 0.6 %.
    return abs(value - expected) <= 0.01 * expected


def checks(port):
    everything = call(port, "retrieve", QUERY)["structuredContent"]
    ways = [hit["data"] for hit in everything["hits"]]
    check("finds both roads", [way["roads"] for way in ways] == [["North Road"], ["South Road"]], everything)
    lengths = [way["distance_m"] for way in ways]
    check("knows how long they are", len(ways) == 2 and near(lengths[0], NORTH) and near(lengths[1], SOUTH), lengths)
    check("is ambiguous without an answer", everything["status"] == "ambiguous", everything["status"])

    asked = call(port, "retrieve", QUERY, can=True)
    options = asked["inputRequests"]["choice"]["params"]["requestedSchema"]["properties"]["choice"]["oneOf"]
    check("asks which way", len(options) == 3 and "via South Road" in options[1]["title"], options)
    answer = {"choice": {"action": "accept", "content": {"choice": options[1]["const"]}}}
    state = asked["requestState"]
    chosen = call(port, "retrieve", QUERY, can=True, inputResponses=answer, requestState=state)["structuredContent"]
    check("takes the way that was chosen", [hit["data"]["roads"] for hit in chosen["hits"]] == [["South Road"]], chosen)

    steps = call(port, "refine", {"reference": options[1]["const"]})["structuredContent"]["passages"][0]["text"]
    check("reads out the steps", "South Road" in steps and "\n1. " in steps, steps)
    away = call(port, "retrieve", {"query": "from 0.0, 0.0 to 40.0, 40.0", "source": "routes"})["structuredContent"]
    check("says that there is no way", (away["status"], away["hits"]) == ("empty", []), away)


def main():
    binaries = install()
    valhalla_port, askback_port = free_port(), free_port()
    running = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        try:
            running.append(engine(binaries, folder, valhalla_port))
            running.append(askback(folder, askback_port, valhalla_port))
            checks(askback_port)
        finally:
            for process in running:
                process.send_signal(signal.SIGTERM)
            for process in running:
                process.wait(timeout=30)
    sys.exit(1 if failures else 0)


main()
