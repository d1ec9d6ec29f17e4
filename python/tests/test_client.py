"""The client of a service, against the program and against servers that fail."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from alike import client


def test_a_collection_from_its_beginning_to_its_end(service: str) -> None:
    with client.Client(service) as c:
        assert c.create("news", threshold=0.7, ngram=2, fields={"lang": "string"})["threshold"] == 0.7
        text = "snow has closed the pass above the lake"
        assert c.check("news", {"id": "../a", "text": text, "lang": "en"}, add=False) == client.Verdict(new=True)
        for _ in range(2):
            assert c.check("news", {"id": "../a", "text": text, "lang": "en"}).new
        verdict = c.check("news", {"id": "b", "text": text + " \ud800today"}, evidence=True)
        assert verdict.duplicate_of == "../a"
        assert verdict.evidence is not None
        assert verdict.evidence.nearest is not None
        assert verdict.evidence.nearest.metadata == {"lang": "en"}
        new = c.check("news", {"id": "c", "text": "snow has closed quite another thing"}, filter={"lang": "en"}, evidence=True)
        assert new.new
        assert new.evidence is not None
        assert new.evidence.compared == "all"
        assert [m.id for m in c.search("news", text, filter={"lang": "en"}, passages=True)] == ["../a"]
        with pytest.raises(client.ServiceError, match="409 Conflict") as conflict:
            c.check("news", {"id": "c", "text": "another"})
        assert conflict.value.field == "id"
        assert c.put("news", {"id": "..", "text": "a text with a name of dots"}) is False
        assert c.get("news", "..")["text"] == "a text with a name of dots"
        c.delete("news", "..")
        with pytest.raises(client.ServiceError, match="404"):
            c.delete("news", "..")
        assert c.stats("news")["documents"] == 2
        assert c.collections() == ["news"]
        assert c.settings("news")["ngram"] == 2
        assert c.sketch("one two", preset="exlsh-word")["signature"]
        assert c.compare("one two", "one two")["jaccard"] == 1
        c.drop("news")


def test_a_stream_is_answered_in_order(service: str, texts: list[str]) -> None:
    c = client.Client(service)
    c.create("stream", ngram=2)
    documents = [{"id": str(n), "text": f"only {n // 2} has {n // 2 * 7} of {n // 2 * 13} " + "x" * 200} for n in range(4000)]
    documents[100] = {"id": "100"}
    verdicts = list(c.stream("stream", documents))
    assert len(verdicts) == 4000
    problem = verdicts[100].problem
    assert problem is not None
    assert problem.field == "text"
    for n, verdict in enumerate(verdicts):
        if n not in (100, 101):
            assert verdict.new == (n % 2 == 0), n
    assert list(c.stream("stream", [])) == []
    c.close()


class Unreliable(BaseHTTPRequestHandler):
    """Answers the first requests badly, each in another way."""

    protocol_version = "HTTP/1.1"
    bad: ClassVar[list[str]] = []  # how: an answer's status, or cut, or half
    bodies: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.bodies.append(body)
        how = self.bad.pop(0) if self.bad else ""
        if how == "cut":
            self.close_connection = True
            return
        status, answer = 200, b'{"new":true}\n' * max(1, body.count(b"\n"))
        if how == "half":
            answer = b'{"new":true}\n{"problem":{"title":"Service Unavailable","status":503}}\n'
        elif how:
            status, answer = int(how), b"not JSON"
        self.send_response(status)
        if how in ("429", "503"):
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_DELETE = do_POST

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def unreliable() -> Iterator[str]:
    Unreliable.bad, Unreliable.bodies = [], []
    with ThreadingHTTPServer(("127.0.0.1", 0), Unreliable) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def test_what_was_not_answered_is_asked_again(unreliable: str) -> None:
    c = client.Client(unreliable, pause=0.001)
    Unreliable.bad = ["cut", "503", "429", "cut"]
    assert c.check("c", {"id": "a", "text": "t"}).new
    assert len(Unreliable.bodies) == 5
    assert len(set(Unreliable.bodies)) == 1
    Unreliable.bad = ["503"] * 5
    with pytest.raises(client.ServiceError) as refused:
        c.check("c", {"id": "a", "text": "t"})
    assert refused.value.status == 503
    Unreliable.bad = ["422"]
    with pytest.raises(client.ServiceError) as refused:
        c.check("c", {"id": "a", "text": "t"})
    assert refused.value.status == 422
    c.close()
    with pytest.raises(client.ServiceError, match="does not answer"):
        client.Client("http://127.0.0.1:1", pause=0.001).stats("c")


def test_of_a_stream_only_the_rest_is_sent_again(unreliable: str) -> None:
    c = client.Client(unreliable, pause=0.001)
    Unreliable.bad = ["half", "cut", "half"]
    assert [v.new for v in c.stream("c", [{"id": str(n), "text": "t"} for n in range(5)])] == [True] * 5
    assert [body.count(b"\n") for body in Unreliable.bodies] == [5, 4, 4, 3]
    c.close()
