"""proxy.py PORT UPSTREAM: lets the conformance suite's elicitation scenarios, which call fixture tools by
name, run against a real tool. On the way in it puts `retrieve` with a weak query in place of a fixture
tool, and a usable text in place of an accepted answer; on the way back it names our one question as the
suite expects. Everything else passes through untouched. Loopback only."""
import http.client
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

PORT, UPSTREAM = int(sys.argv[1]), urlsplit(sys.argv[2])
TOOL, ARGUMENTS = "retrieve", {"query": "zookeeper"}
ANSWER = {"clarification": "how do two replicas share the key that seals the request state"}
FIXTURES = {
    "test_input_required_result_elicitation",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "test_elicitation",
}
SUITES_KEY = "user_name"
HOP = {"connection", "transfer-encoding", "content-length", "host", "keep-alive", "accept-encoding"}


def inward(message, headers):
    """Rewrites a request; says whether it was one of the suite's fixture calls."""
    if message.get("method") == "tools/call" and message.get("params", {}).get("name") in FIXTURES:
        params = message["params"]
        params.update(name=TOOL, arguments=ARGUMENTS)
        for name in [name for name in headers if name.lower() == "mcp-name"]:
            headers[name] = TOOL
        responses = params.get("inputResponses")
        if isinstance(responses, dict):
            params["inputResponses"] = {
                "clarification" if key == SUITES_KEY else key: answered(value) for key, value in responses.items()
            }
        return True
    if "method" not in message and isinstance(message.get("result"), dict) and "action" in message["result"]:
        message["result"] = answered(message["result"])
        return True
    return False


def answered(value):
    return {**value, "content": ANSWER} if isinstance(value, dict) and value.get("action") == "accept" else value


def outward(data):
    try:
        message = json.loads(data)
    except ValueError:
        return data
    requests = (message.get("result") or {}).get("inputRequests") if isinstance(message, dict) else None
    if isinstance(requests, dict) and len(requests) == 1:
        message["result"]["inputRequests"] = {SUITES_KEY: next(iter(requests.values()))}
        return json.dumps(message).encode()
    return data


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def forward(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in HOP}
        headers["Host"] = UPSTREAM.netloc
        try:
            message = json.loads(body) if body else None
        except ValueError:
            message = None
        if isinstance(message, dict) and inward(message, headers):
            body = json.dumps(message).encode()
        upstream = http.client.HTTPConnection(UPSTREAM.hostname, UPSTREAM.port, timeout=60)
        upstream.request(self.command, UPSTREAM.path, body or None, headers)
        response = upstream.getresponse()
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in HOP:
                self.send_header(name, value)
        if "event-stream" not in (response.getheader("content-type") or ""):
            data = outward(response.read())
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while line := response.readline():
                if line.startswith(b"data: {"):
                    line = b"data: " + outward(line[6:].strip()) + b"\n"
                self.wfile.write(line)
                self.wfile.flush()
        except OSError:
            pass

    do_POST = do_GET = do_DELETE = forward


ThreadingHTTPServer(("127.0.0.1", PORT), Proxy).serve_forever()
