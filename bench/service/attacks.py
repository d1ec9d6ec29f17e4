"""Attacks a server of alike on this machine, and tells what came of each: python bench/service/attacks.py ALIKE SERVICE DOCS.jsonl

ALIKE is the program, SERVICE that of `go build ./bench/service`. The exit status is 1 if an attack succeeds: an answer
that is a fault of the server, a request that hides in another, markup that a page takes from a document, or others
that get less than four fifths of what they get without it.
"""

from __future__ import annotations

import html.parser
import http.client
import json
import random
import re
import resource
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

ALIKE, SERVICE, DOCS = sys.argv[1:4]
failed: list[str] = []


def told(name: str, good: bool, text: str) -> None:
    print(f"{'ok  ' if good else 'FAIL'} {name}: {text}", flush=True)
    if not good:
        failed.append(name)


server = subprocess.Popen([ALIKE, "serve", "--listen", "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
assert server.stderr is not None
address = json.loads(server.stderr.readline())["address"]
host, port = address.rsplit(":", 1)
log: list[str] = []
threading.Thread(target=lambda: log.extend(server.stderr), daemon=True).start()


def ask(method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(host, int(port), timeout=20)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    out = answer.status, answer.read()
    connection.close()
    return out


def create(name: str) -> None:
    assert ask("PUT", f"/v1/collections/{name}", b'{"window":{"docs":20000}}')[0] == 201


def rate() -> float:
    """Return how many checks a second others get."""
    url = f"http://{address}/v1/collections/load/check"
    out = subprocess.run([SERVICE, "-connections", "8", "-for", "4s", "-rate", "1000000", "-pid", str(server.pid), url, DOCS], capture_output=True, text=True, check=True)
    return float(out.stdout.split("/s")[0])


def raw(data: bytes, wait: float = 1.0) -> bytes:
    """Send bytes and return all that comes back until the server is silent or ends."""
    with socket.create_connection((host, int(port)), timeout=wait) as s:
        out = b""
        try:
            s.sendall(data)
            while piece := s.recv(65536):
                out += piece
        except (TimeoutError, ConnectionError):
            pass
        return out


def crowd(name: str, beginning: list[bytes], trickle: bytes | None) -> None:
    """Open a thousand connections, and send a byte a second on each of them while others ask."""
    before = [rate(), rate()]
    sockets = []
    for n in range(1000):
        s = socket.create_connection((host, int(port)))
        s.sendall(beginning[n % len(beginning)])
        sockets.append(s)
    end = threading.Event()

    def drip() -> None:
        while trickle and not end.wait(1):
            for s in sockets:
                try:
                    s.send(trickle)
                except OSError:
                    pass

    thread = threading.Thread(target=drip)
    thread.start()
    beside = sorted(rate() for _ in range(3))[1]
    end.set()
    thread.join()
    if trickle:
        until, open_ = time.monotonic() + 40, sockets
        while open_ and time.monotonic() < until:
            time.sleep(1)
            still = []
            for s in open_:
                s.setblocking(False)
                try:
                    if s.recv(65536):
                        still.append(s)
                except BlockingIOError:
                    still.append(s)
                except OSError:
                    pass
            open_ = still
        told(name + ", ended", not open_, f"{len(open_)} of 1000 connections are still open")
    for s in sockets:
        s.close()
    alone = sum(sorted([*before, rate(), rate()])[1:3]) / 2
    told(name, beside >= 0.8 * alone, f"others get {beside:.0f} checks a second, alone {alone:.0f} (medians)")


def smuggle() -> None:
    """Send requests whose end two readers may see in different places; the hidden one makes a collection."""
    hidden = b"PUT /v1/collections/smuggled HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    path = b"POST /v1/collections/c/check HTTP/1.1\r\nHost: h\r\n"
    chunk = b"0\r\n\r\n"
    length = str(len(hidden)).encode()
    cases = {
        "length and chunks": path + b"Content-Length: " + length + b"\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + hidden,
        "chunks and length": path + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + chunk + hidden,
        "two lengths": path + b"Content-Length: 2\r\nContent-Length: " + length + b"\r\n\r\n{}" + hidden,
        "list of lengths": path + b"Content-Length: 2, 2\r\n\r\n{}" + hidden,
        "length with a sign": path + b"Content-Length: +2\r\n\r\n{}" + hidden,
        "length in hex": path + b"Content-Length: 0x2\r\n\r\n{}" + hidden,
        "space before the colon": path + b"Content-Length : 2\r\n\r\n{}" + hidden,
        "folded": path + b"Content-Length: 2\r\n Transfer-Encoding: chunked\r\n\r\n{}" + hidden,
        "chunked in other words": path + b"Transfer-Encoding: xchunked\r\n\r\n" + chunk + hidden,
        "tab chunked": path + b"Transfer-Encoding:\tchunked, identity\r\n\r\n" + chunk + hidden,
        "LF only": path.replace(b"\r\n", b"\n") + b"Content-Length: 2\nTransfer-Encoding: chunked\n\n" + chunk + hidden,
        "CR in a value": path + b"X-A: b\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}" + hidden,
        "NUL in a name": path + b"Transfer\x00-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}" + hidden,
        "no length": path + b"\r\n" + hidden[: len(hidden) - 2].replace(b"PUT", b"XPUT"),
        "bad chunk": path + b"Transfer-Encoding: chunked\r\n\r\n2;a=\n\r\n{}\r\n0\r\n\r\n" + hidden.replace(b"PUT", b"XPUT"),
        "HTTP/1.0 keep-alive": path.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + hidden.replace(b"PUT", b"XPUT"),
    }
    for name, data in cases.items():
        out = raw(data)
        statuses = [int(s) for s in re.findall(rb"HTTP/1\.1 (\d{3})", out)]
        made = ask("GET", "/v1/collections/smuggled")[0] == 200
        told(f"smuggling, {name}", all(s < 500 or s == 501 for s in statuses) and not made, f"answers {statuses}")
        if made:
            ask("DELETE", "/v1/collections/smuggled")


def tricks() -> None:
    targets = [
        "/..", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/v1//collections", "/v1/collections/..%2f..%2fetc", "/v1/collections/c/documents/..%2f..%2fx",
        "/v1/collections/%00", "/v1/collections/c%00", "/v1/collections/c/documents/%ff%fe", "/v1/collections/C", "/v1/collections/" + "a" * 5000, "/v1/collections/c/./check",
        "/page/../v1/collections", "/page/page.js/..", "/?t=" + "A" * 20000, "/?collection=c&id=%00", "/v1/collections/c/documents/" + "%41" * 3000, "/;/v1", "/v1/collections/c?x=%zz", "*", "http://evil/v1",
        "/v1/collections/con", "/v1/collections/nul.json", "/v1/collections/c.removed", "/metrics/../v1", "/debug/pprof/", "/.git/config", "/openapi.json%2f",
    ]
    answers = {}
    for target in targets:
        for method in ("GET", "POST", "DELETE", "OPTIONS", "TRACE", "CONNECT", "\x7f"):
            out = raw(f"{method} {target} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode(), 5)
            status = re.match(rb"HTTP/1\.1 (\d{3})", out)
            answers[method, target[:40]] = int(status[1]) if status else 0
    bad = {at: status for at, status in answers.items() if status >= 500 or status == 0}
    told("paths", not bad, f"{len(answers)} requests, answers {sorted(set(answers.values()))} {bad or ''}")
    heads = [
        b"Host: a\r\nHost: b\r\n", b"", b"Host: a b\r\n", b"Host: h\r\nX: " + b"a" * 100_000 + b"\r\n", b"Host: h\r\n" + b"A: b\r\n" * 5000, b"Host: h\r\nAuthorization: Bearer " + b"\xff" * 100 + b"\r\n",
        b"Host: h\r\nCookie: alike_token=%%%\r\n", b"Host: h\r\nX-Forwarded-For: <script>\r\n", b"Host: h\r\nExpect: 200-ok\r\n", b"Host: h\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n",
        b"Host: h\r\nRange: bytes=0-0,0-0\r\n", b"Host: h\r\nIf-None-Match: *\r\n", b"Host: h\r\nContent-Type: multipart/form-data\r\n", b"Host: h\r\n\x00: a\r\n", b"Host: h\r\n: a\r\n",
    ]
    statuses = []
    for head in heads:
        out = raw(b"GET /v1/collections HTTP/1.1\r\n" + head + b"Connection: close\r\n\r\n", 5)
        statuses.append(int(out[9:12] or 0))
    told("headers", all(0 < s < 500 for s in statuses), f"answers {statuses}")


class Markup(html.parser.HTMLParser):
    """Notes what of a page a browser may run or load."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            value = value or ""
            link = name in ("href", "src", "action", "formaction", "data", "poster", "srcset", "xlink:href")
            if name.startswith("on") or name in ("style", "srcdoc") or (link and not re.match(r"(/[^/\\]|/$|#|\?|$)", value)):
                self.found.append(f"{tag} {name}={value[:60]}")
        if tag in ("iframe", "object", "embed", "base", "math", "marquee", "audio", "video", "img", "body-x", "animate", "template", "noembed"):
            self.found.append(tag)
        if tag == "script" and dict(attributes) != {"src": "/page/page.js", "defer": None} and not dict(attributes).get("src", "").startswith("/page/"):
            self.found.append(f"script {attributes}")

    handle_startendtag = handle_starttag


def payloads() -> list[str]:
    run = "alert(1)"
    base = [
        f"<script>{run}</script>", f"</script><script>{run}</script>", f"<img src=x onerror={run}>", f"<svg/onload={run}>", f"\"><svg onload={run}>", f"' onmouseover='{run}", f'" autofocus onfocus="{run}',
        f"</title><script>{run}</script>", f"</textarea><script>{run}</script>", f"</pre><img src=x onerror={run}>", f"<iframe srcdoc='<script>{run}</script>'>", f"<a href=javascript:{run}>x</a>", f"javascript:{run}",
        f"<math><mtext><table><mglyph><style><img src=x onerror={run}>", f"<body onload={run}>", f"<details open ontoggle={run}>", "{{7*7}}", "${7*7}", "<%= 7*7 %>", f"<!--><img src=x onerror={run}>-->",
        f"<noscript><p title='</noscript><img src=x onerror={run}>'>", f"<style>@import 'http://evil'</style>", f"<base href=//evil/>", f"<form action=//evil><button>", f"<object data=//evil>", f"\u2028{run}//", f"<\x00script>{run}</script>",
        f"＜script＞{run}＜/script＞", f"&lt;script&gt;{run}&lt;/script&gt;", f"&#60;script&#62;{run}", f"<bdi><script>{run}</script></bdi>", f"]]><script>{run}</script>", f"<xss style=animation-name:x onanimationstart={run}>",
        f"<input autofocus onfocus={run}>", f"\u202e<script>{run}</script>", f"<ScRiPt>{run}</sCrIpT>", f"<script/x>{run}</script>", f"<svg><animate onbegin={run} attributeName=x>", f"<marquee onstart={run}>", f"<meta http-equiv=refresh content=0;url=//evil>",
    ]
    made = list(base)
    rng = random.Random(1)
    while len(made) < 200:
        made.append(rng.choice(base) + rng.choice(["", " ", "\n", "\t", '"', "'", "`", "<", "\\"]) + rng.choice(base))
    return made


def markup() -> None:
    create("xss")
    pages, found = 0, []
    common = "one two three four five six seven eight nine ten "
    for n, payload in enumerate(payloads()):
        for kind, document in (("id", {"id": payload, "text": common + str(n)}), ("text", {"id": f"t{n}", "text": common + payload}), ("metadata", {"id": f"m{n}", "text": common, payload: payload})):
            body = json.dumps(document).encode()
            path = "/v1/collections/xss/documents/" + urllib.parse.quote(document["id"], safe="")
            status, out = ask("PUT", path, body, {"Content-Type": "application/json"})
            assert status == 200, (kind, payload, status, out)
            query = urllib.parse.urlencode({"collection": "xss", "id": document["id"], "with": "t0"})
            for target in ("/?" + query, "/?" + urllib.parse.urlencode({"collection": payload, "id": payload, "threshold": payload, "with": payload})):
                connection = http.client.HTTPConnection(host, int(port), timeout=20)
                connection.request("GET", target, headers={"Referer": "http://h/" + urllib.parse.quote(payload), "User-Agent": urllib.parse.quote(payload)})
                answer = connection.getresponse()
                page = answer.read().decode()
                connection.close()
                pages += 1
                seen = Markup()
                seen.feed(page)
                policy = answer.headers.get("Content-Security-Policy", "")
                if seen.found or "default-src 'none'" not in policy or answer.status >= 500:
                    found.append((kind, payload, answer.status, seen.found))
    told("markup", not found, f"200 payloads in ids, texts, metadata, names, Referer: {pages} pages, {len(found)} with markup of them {found[:3]}")


resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 8192))
try:
    create("c")
    create("load")
    subprocess.run([SERVICE, "-connections", "8", f"http://{address}/v1/collections/load/check", DOCS], check=True, capture_output=True)
    tricks()
    ask("PUT", "/v1/collections/c", b"{}")  # a trick may have removed it, as it may
    smuggle()
    markup()
    crowd("1,000 idle connections", [b""], None)
    head = b"POST /v1/collections/c/check HTTP/1.1\r\nHost: h\r\nContent-Length: 500\r\n"
    crowd("1,000 slow-loris connections", [b"GET / HTTP/1.1\r\nX-A: ", head, head + b"\r\n{", head.replace(b"check", b"documents") + b"Content-Type: application/x-ndjson\r\n\r\n{"], b"a")
    told("alive", ask("GET", "/readyz")[0] == 200 and not any('"ERROR"' in line for line in log), f"{sum('ERROR' in line for line in log)} errors in the log {log[:2]}")
finally:
    server.terminate()
    server.wait(60)
sys.exit(bool(failed))
