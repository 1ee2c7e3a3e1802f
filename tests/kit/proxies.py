"""Real nginx and Caddy in front of real servers, with the files of deploy/."""

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.kit.deployment import DEPLOY, find_program
from tests.kit.postgres import find_free_port
from tests.kit.waiting import PATIENCE

# The name that the files have for the server.
NAME = "tools.example.com"
# What is left of nginx.conf: one process that stays in the foreground and writes into its folder only.
_NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log info;
worker_processes 1;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/answers;
    fastcgi_temp_path {folder}/unused;
    uwsgi_temp_path {folder}/unused;
    scgi_temp_path {folder}/unused;
    include {folder}/sidecall.conf;
    server {{
        listen 127.0.0.1:{prefix_port};
        server_name {name};
        include {folder}/sidecall-prefix.conf;
    }}
}}
"""
_CADDY = """{
	admin off
	auto_https off
}
"""


@dataclass(frozen=True)
class Proxy:
    """A running proxy: with a name of its own, and below the prefix `/sidecall` of another site.

    `certificate` is the one that clients have to trust for the first, None where it is without TLS.
    """

    port: int
    prefix_port: int
    certificate: Path | None
    log_file: Path

    @property
    def url(self) -> str:
        """The address of the site of its own; its name resolves nowhere, so that `Host` has to be said."""
        return f"{'http' if self.certificate is None else 'https'}://127.0.0.1:{self.port}"

    @property
    def prefixed_url(self) -> str:
        """The address below a prefix."""
        return f"http://127.0.0.1:{self.prefix_port}/sidecall"


def replace_once(text: str, *pairs: tuple[str, str]) -> str:
    """Replace texts that stand there once."""
    for old, new in pairs:
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
        text = text.replace(old, new)
    return text


@contextmanager
def running_nginx(folder: Path, ports: Sequence[int], read_timeout: str = "300s") -> Iterator[Proxy]:
    """Run nginx with its files as they are, but for addresses, the certificate and the read timeout."""
    own, prefixed = find_free_port(), find_free_port()
    certificate = _make_certificate(folder)
    servers = "\n".join(f"    server 127.0.0.1:{port} max_fails=1 fail_timeout=5s;" for port in ports)
    shared = str(folder / "sidecall-proxy.conf")
    site = replace_once(
        (DEPLOY / "nginx" / "sidecall.conf").read_text(),
        ("    server 127.0.0.1:8000 max_fails=1 fail_timeout=5s;", servers),
        ("listen 443 ssl;", f"listen 127.0.0.1:{own} ssl;"),
        ("/etc/ssl/certs/tools.example.com.pem;", f"{certificate};"),
        ("/etc/ssl/private/tools.example.com.key;", f"{certificate.with_suffix('.key')};"),
        ("include /etc/nginx/sidecall-proxy.conf;", f"include {shared};"),
    )
    prefix = (DEPLOY / "nginx" / "sidecall-prefix.conf").read_text()
    proxy = (DEPLOY / "nginx" / "sidecall-proxy.conf").read_text()
    (folder / "sidecall.conf").write_text(site)
    (folder / "sidecall-prefix.conf").write_text(replace_once(prefix, ("/etc/nginx/sidecall-proxy.conf", shared)))
    Path(shared).write_text(replace_once(proxy, ("proxy_read_timeout 300s;", f"proxy_read_timeout {read_timeout};")))
    main = folder / "nginx.conf"
    main.write_text(_NGINX.format(folder=folder, prefix_port=prefixed, name=NAME))
    if os.getuid() == 0:
        # As the user that runs it, who owns the folder.
        main.write_text(f"user root;\n{main.read_text()}")
    options = ("-e", str(folder / "error.log"), "-c", str(main), "-p", str(folder))
    with _running(
        [find_program("nginx"), *options], folder, Proxy(own, prefixed, certificate, folder / "error.log")
    ) as up:
        yield up


@contextmanager
def running_caddy(folder: Path, ports: Sequence[int], read_timeout: str = "300s") -> Iterator[Proxy]:
    """Run Caddy with its files as they are, but for addresses and the read timeout, and without certificates."""
    own, prefixed = find_free_port(), find_free_port()
    site = (
        (DEPLOY / "caddy" / "Caddyfile")
        .read_text()
        .replace("response_header_timeout 300s", f"response_header_timeout {read_timeout}")
    )
    prefix = (DEPLOY / "caddy" / "prefix.caddy").read_text()
    (folder / "prefix.caddy").write_text(prefix)
    ours = f"{_CADDY}\n{site}\nhttp://:{prefixed} {{\n\timport {folder}/prefix.caddy\n}}\n"
    (folder / "Caddyfile").write_text(ours)
    environment = {
        "SIDECALL_SITE": f"http://:{own}",
        "SIDECALL_SERVERS": " ".join(f"127.0.0.1:{port}" for port in ports),
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    command = [find_program("caddy"), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with _running(command, folder, Proxy(own, prefixed, None, folder / "log"), environment) as up:
        yield up


def _make_certificate(folder: Path) -> Path:
    made = folder / "certificate.pem"
    key = (
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
        str(made.with_suffix(".key")),
    )
    names = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1")
    command = ["openssl", "req", "-x509", "-days", "1", *key, "-out", str(made), *names]
    subprocess.run(command, check=True, capture_output=True)
    return made


@contextmanager
def _running(
    command: Sequence[str], folder: Path, proxy: Proxy, environment: dict[str, str] | None = None
) -> Iterator[Proxy]:
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder)
    try:
        _await(process, proxy, folder)
        yield proxy
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _await(process: subprocess.Popen[bytes], proxy: Proxy, folder: Path) -> None:
    """Wait until both sites answer."""
    until = time.monotonic() + PATIENCE
    for url in (f"{proxy.url}/readyz", f"{proxy.prefixed_url}/readyz"):
        while not _answers(url):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < until, f"{url} does not answer: {(folder / 'log').read_text()}"
            time.sleep(0.02)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, verify=False, trust_env=False).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False
