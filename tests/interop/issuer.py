"""issuer.py PORT ISSUER AUDIENCE: an OAuth issuer made of FastMCP's own test keys. Serves /keys, and
prints one token for each of a reader and an outsider as a JSON object."""
import http.server
import json
import sys

from fastmcp.server.auth.providers.jwt import RSAKeyPair
from joserfc.jwk import RSAKey

port, issuer, audience = int(sys.argv[1]), sys.argv[2], sys.argv[3]
pair = RSAKeyPair.generate()
key = RSAKey.import_key(pair.public_key).as_dict(private=False, kid="interop", use="sig", alg="RS256")


def token(audience, **claims):
    return pair.create_token(
        subject="interop", issuer=issuer, audience=audience, kid="interop",
        scopes=["sources.list", "sources.read", "sources.write"], additional_claims=claims,
    )


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"keys": [key]}).encode()
        self.send_response(200 if self.path == "/keys" else 404)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
print(json.dumps({"good": token(audience, groups=["staff"]), "foreign": token("https://other.example.com")}), flush=True)
server.serve_forever()
