#!/usr/bin/env bash
# nginx makes a path in a proxied `Location` an absolute address as soon as proxy_redirect has changed it, of a 202 as well:
# with the scheme that nginx itself is asked with. It takes Debian or Ubuntu, whose package is unpacked, not installed.
set -euo pipefail
folder=$(mktemp -d)
origin="" proxy=""
trap 'kill $origin $proxy 2>/dev/null || true; wait; rm -rf "$folder"' EXIT
cd "$folder"
apt-get download --quiet --quiet nginx 2>/dev/null
dpkg-deb --extract nginx_*.deb .
read -r upstream plain rewritten < <(python3 - <<'PYTHON'
import socket

sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(it.getsockname()[1] for it in sockets))
PYTHON
)
python3 - "$upstream" <<'PYTHON' &
import http.server
import sys


class Origin(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(202)
        self.send_header("Location", "/jobs/1")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Origin).serve_forever()
PYTHON
origin=$!
cat >nginx.conf <<CONF
daemon off;
master_process off;
pid $folder/pid;
error_log $folder/error.log;
events {}
http {
    access_log off;
    client_body_temp_path $folder/t1; proxy_temp_path $folder/t2; fastcgi_temp_path $folder/t3;
    uwsgi_temp_path $folder/t4; scgi_temp_path $folder/t5;
    server { listen 127.0.0.1:$plain; location / { proxy_pass http://127.0.0.1:$upstream; } }
    server {
        listen 127.0.0.1:$rewritten;
        location /api/ { proxy_pass http://127.0.0.1:$upstream/; proxy_redirect / /api/; }
        location /kept/ { proxy_pass http://127.0.0.1:$upstream/; proxy_redirect / /kept/; absolute_redirect off; }
    }
}
CONF
./usr/sbin/nginx -e "$folder/error.log" -p "$folder" -c "$folder/nginx.conf" &
proxy=$!
python3 - "$plain" "$rewritten" "$(./usr/sbin/nginx -v 2>&1)" <<'PYTHON'
import http.client
import sys
import time

plain, rewritten, version = sys.argv[1:]


def ask(port: str, path: str) -> tuple[int, str | None]:
    for _ in range(200):
        try:
            client = http.client.HTTPConnection("127.0.0.1", int(port), timeout=5)
            # As a balancer in front of it does, where TLS has ended.
            client.request("GET", path, headers={"Host": "tools.example.com", "X-Forwarded-Proto": "https"})
            answer = client.getresponse()
            if answer.status == 202:
                return answer.status, answer.headers["Location"]
        except OSError:
            pass
        time.sleep(0.05)
    raise SystemExit("no answer")


seen = [ask(plain, "/x"), ask(rewritten, "/api/x"), ask(rewritten, "/kept/x")]
print(version, "an upstream's `202, Location: /jobs/1` ->", *seen, sep="\n  ")
expected = [(202, "/jobs/1"), (202, f"http://tools.example.com:{rewritten}/api/jobs/1"), (202, "/kept/jobs/1")]
sys.exit(seen != expected)
PYTHON
