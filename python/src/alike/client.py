"""Ask a server of ``alike serve``. Only the standard library is used.

    from alike.client import Client

    client = Client("http://127.0.0.1:8080", token="…")
    client.create("news", threshold=0.7, window={"age": "7d"})
    verdict = client.check("news", {"id": "a", "text": text, "lang": "en"})
    for verdict in client.stream("news", documents): ...

Every request may be repeated: a check, too, gets the same answer again. So one that was not answered, or was answered
429 or 503, is sent again, up to ``tries`` times, after the time that the server has named. A client may be used by
several threads; each has a connection of its own.
"""

from __future__ import annotations

import http.client
import itertools
import json
import random
import ssl
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlsplit

from ._errors import AlikeError, UsageError

__all__ = ["Client", "Evidence", "Found", "ServiceError", "Verdict"]

JSON = "application/json"
NDJSON = "application/x-ndjson"
MOST_BYTES = 256 << 10  # of the documents of one request: the server reads so many before its answers are read
AGAIN = (429, 503)


class ServiceError(AlikeError):
    """The server has refused a request, or did not answer: ``status`` is then 0."""

    def __init__(self, status: int, title: str, detail: str = "", field: str = "", retry_after: float | None = None) -> None:
        super().__init__(": ".join(part for part in (f"{status} {title}" if status else title, f"{field} {detail}".strip()) if part))
        self.status, self.title, self.detail, self.field = status, title, detail, field
        self.retry_after = retry_after  # seconds that the server has named


@dataclass(frozen=True)
class Found:
    """A document that is like a text, or the nearest one."""

    id: str
    similarity: float  # from 0 to 1
    metadata: dict[str, Any] = field(default_factory=dict)
    passages: list[dict[str, Any]] = field(default_factory=list)  # tokens, a and b: places in bytes of UTF-8, a is the text asked about


@dataclass(frozen=True)
class Evidence:
    """Why a check or a search has its answer."""

    rule: str
    reason: str
    compared: str = ""  # to find nearest: "all" documents, or those that share "keys"
    nearest: Found | None = None


@dataclass(frozen=True)
class Verdict:
    """The answer to a check."""

    new: bool
    duplicate_of: str | None = None  # id of the first document that it is like
    similarity: float | None = None  # from 0 to 1
    late: bool = False  # older than the window: not kept
    evidence: Evidence | None = None
    problem: ServiceError | None = None  # in a stream: this document was not decided, and new says nothing


class Client:
    """A client of one server.

    tries: how often a request is sent at most. pause: seconds before the second time, if the server names none; it
    doubles. timeout: seconds without a byte of an answer. context: of TLS.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        tries: int = 5,
        pause: float = 0.2,
        timeout: float = 60,
        context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{url!r} is no address of a server: give one such as http://127.0.0.1:8080")
        self._parts, self._base = parts, parts.path.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._tries, self._pause, self._timeout, self._context = tries, pause, timeout, context
        self._local = threading.local()

    def __repr__(self) -> str:
        return f"Client({self._parts.scheme}://{self._parts.netloc}{self._base})"

    def close(self) -> None:
        """End the connection of this thread. The next request makes another one."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
        self._local.connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def create(self, collection: str, **settings: Any) -> dict[str, Any]:
        """Make a collection, and return its settings. One that is there with equal settings stays as it is."""
        made: dict[str, Any] = self._ask("PUT", _path(collection), settings)
        return made

    def settings(self, collection: str) -> dict[str, Any]:
        """Return the settings of a collection."""
        settings: dict[str, Any] = self._ask("GET", _path(collection))
        return settings

    def collections(self) -> list[str]:
        """Return the names of the collections that the token may read."""
        names: list[str] = self._ask("GET", "/v1/collections")["collections"]
        return names

    def stats(self, collection: str) -> dict[str, Any]:
        """Return what a collection holds, and has done since the server began."""
        stats: dict[str, Any] = self._ask("GET", _path(collection, "stats"))
        return stats

    def drop(self, collection: str) -> None:
        """Remove a collection with its documents."""
        self._ask("DELETE", _path(collection))

    def check(
        self,
        collection: str,
        document: Mapping[str, Any],
        *,
        add: bool = True,
        filter: Mapping[str, Any] | None = None,
        evidence: bool = False,
    ) -> Verdict:
        """Tell whether a document is new, and add it then, unless add is false.

        document has an id, a text and any other fields. filter says with which documents it is compared.
        """
        body = dict(document)
        if filter is not None:
            body["filter"] = filter
        if evidence:
            body["evidence"] = True
        return _verdict(self._ask("POST", _path(collection, "check") + ("" if add else "?add=false"), body))

    def stream(self, collection: str, documents: Iterable[Mapping[str, Any]]) -> Iterator[Verdict]:
        """Check documents in order, many in a request, and yield the verdict of each.

        A document that cannot be decided has a verdict with a problem. After an error the documents without a verdict
        may have been added or not: checking them again gets the right answers.
        """
        for lines in _packs(documents):
            yield from self._lines(_path(collection, "documents"), lines)

    def put(self, collection: str, document: Mapping[str, Any]) -> bool:
        """Add a document in place of the one with its id; tell whether there was one."""
        replaced: bool = self._ask("PUT", _path(collection, "documents", str(document["id"])), document)["replaced"]
        return replaced

    def get(self, collection: str, id: str) -> dict[str, Any]:
        """Return the fields of a document; its text is there if the collection keeps texts."""
        document: dict[str, Any] = self._ask("GET", _path(collection, "documents", id))
        return document

    def delete(self, collection: str, id: str) -> None:
        """Remove a document."""
        self._ask("DELETE", _path(collection, "documents", id))

    def search(self, collection: str, text: str, **options: Any) -> list[Found]:
        """Return documents like a text, the most similar first. The options are threshold, measure, top, passages, filter."""
        return [Found(**match) for match in self._ask("POST", _path(collection, "search"), {"text": text, **options})["matches"]]

    def sketch(self, text: str, **settings: Any) -> dict[str, str]:
        """Return scheme and signature of a text."""
        made: dict[str, str] = self._ask("POST", "/v1/sketch", {"text": text, **settings})
        return made

    def compare(self, a: str, b: str, **settings: Any) -> dict[str, Any]:
        """Return how similar two texts are, and what they share."""
        compared: dict[str, Any] = self._ask("POST", "/v1/compare", {"a": a, "b": b, **settings})
        return compared

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
        lost = False  # a try whose answer is not known
        for attempt in itertools.count(1):
            try:
                answer = self._once(method, path, content, JSON).read()
                return json.loads(answer) if answer else None
            except ServiceError as error:
                if error.status == 404 and method == "DELETE" and lost:
                    return None
                self._wait(attempt, error)
            except (OSError, http.client.HTTPException) as error:
                lost = True
                self._wait(attempt, self._failed(error))
        raise AssertionError

    def _lines(self, path: str, lines: list[bytes]) -> Iterator[Verdict]:
        attempt = 1
        while lines:
            answered = 0
            try:
                for line in self._once("POST", path, b"".join(lines), NDJSON):
                    verdict = _verdict(json.loads(line))
                    if verdict.problem is not None and verdict.problem.status not in (400, 409, 422):
                        raise verdict.problem  # it ends the answer
                    answered += 1
                    yield verdict
                if answered < len(lines):
                    raise http.client.IncompleteRead(b"")
            except ServiceError as error:
                self.close()
                attempt = 1 if answered else attempt
                self._wait(attempt, error)
            except GeneratorExit:
                self.close()
                raise
            except (OSError, http.client.HTTPException, ValueError) as error:
                attempt = 1 if answered else attempt
                self._wait(attempt, self._failed(error))
            attempt += 1
            lines = lines[answered:]

    def _once(self, method: str, path: str, content: bytes | None, kind: str) -> http.client.HTTPResponse:
        """Send a request. A problem is an error; of another answer the body is to be read."""
        connection: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if connection is None:
            host, port = self._parts.hostname or "", self._parts.port
            if self._parts.scheme == "https":
                connection = http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)
            else:
                connection = http.client.HTTPConnection(host, port, timeout=self._timeout)
            self._local.connection = connection
        headers = {**self._headers, "Content-Type": kind} if content is not None else self._headers
        connection.request(method, self._base + path, content, headers)
        response = connection.getresponse()
        if response.status >= 400:
            raise _problem(response.status, response.read(1 << 16), response.headers.get("Retry-After"))
        return response

    def _failed(self, error: Exception) -> ServiceError:
        """Return the error of a connection, which is not used again."""
        self.close()
        failed = ServiceError(0, f"{self!r} does not answer: {str(error) or type(error).__name__}")
        failed.__cause__ = error
        return failed

    def _wait(self, attempt: int, error: ServiceError) -> None:
        """Wait before another try, or raise the error if there is none."""
        if attempt >= self._tries or (error.status and error.status not in AGAIN):
            raise error
        if error.retry_after is not None:
            time.sleep(error.retry_after)
        else:
            time.sleep(self._pause * 2 ** (attempt - 1) * random.uniform(0.5, 1))


def _path(collection: str, *more: str) -> str:
    """Return the path of a collection, or of something in it. Names of dots are not those of folders."""
    pieces = [quote(name, safe="") if name.strip(".") else name.replace(".", "%2E") for name in (collection, *more)]
    return "/v1/collections/" + "/".join(pieces)


def _packs(documents: Iterable[Mapping[str, Any]]) -> Iterator[list[bytes]]:
    """Yield the lines of documents, so many at once as are sent together."""
    lines: list[bytes] = []
    size = 0
    for document in documents:
        line = json.dumps(document, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        if lines and size + len(line) > MOST_BYTES:
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def _verdict(answer: dict[str, Any]) -> Verdict:
    if "problem" in answer:
        problem = answer["problem"]
        return Verdict(
            new=False, problem=ServiceError(problem["status"], problem["title"], problem.get("detail", ""), problem.get("field", ""))
        )
    evidence = answer.pop("evidence", None)
    if evidence is not None:
        nearest = evidence.pop("nearest", None)
        evidence = Evidence(**evidence, nearest=None if nearest is None else Found(**nearest))
    return Verdict(**answer, evidence=evidence)


def _problem(status: int, body: bytes, retry_after: str | None) -> ServiceError:
    try:
        told = json.loads(body)
        title, detail, name = told["title"], told.get("detail", ""), told.get("field", "")
    except (ValueError, TypeError, KeyError):  # of a proxy, say
        title, detail, name = http.client.responses.get(status, "problem"), "", ""
    after = float(retry_after) if retry_after and retry_after.isdecimal() else None
    return ServiceError(status, title, detail, name, after)
