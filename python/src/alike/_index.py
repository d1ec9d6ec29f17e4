"""Index: a folder of documents that can be searched."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

from ._call import Call, Source, plain, source_of
from ._errors import UsageError
from ._items import Match, Texts, held
from ._options import IndexInputOptions, IndexOptions, Path, QueryOptions, arguments, documented, path_of
from ._resident import Resident
from ._rows import Rows, check_field, check_within, choose_label, choose_text, write_records
from ._show import Results

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

ID = "alike_id"  # name of the id column in files for the program


class Index:
    """A folder of documents that can be searched, in the form of ``alike index``.

    One process at a time may write to an index. A search sees the index as it was when the search began.
    Calls share nothing but the folder, unless they stand in a ``with``: then one program holds the index open
    until its end, and a call takes a millisecond or so. That program sees the index as it was when it began, with
    its own changes; from the first change on no other process can write.

        with alike.Index("news.index") as index:
            for text in texts:
                if index.check(text)["new"]: …
    """

    def __init__(self, folder: Path) -> None:
        self.folder = path_of("folder", folder)
        self._held: Resident | None = None

    def __enter__(self) -> Self:
        if self._held is None:
            self._held = Resident(["index", "hold", "--", self.folder], quiet=False)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the program of a ``with``."""
        if self._held is not None:
            self._held.close()
            self._held = None

    def __len__(self) -> int:
        """Return the number of documents."""
        return int(self.info()["documents"].replace(",", ""))

    def __bool__(self) -> bool:
        """Return True: an index without documents is an index."""
        return True

    def __repr__(self) -> str:
        return f"Index({self.folder!r})"

    @classmethod
    def build(
        cls, folder: Path, data: Any, *, text: Hashable | None = None, id: Hashable | None = None, **options: Unpack[IndexOptions]
    ) -> Index:
        """Make an index of documents. The folder must not exist, or be empty.

        data may be paths, a data frame, records (dict), or a dict of ids to texts. Rows in
        memory need ids, because a search returns ids. The options say how texts are compared;
        they cannot be changed later.

        columns: the names of columns to store with the documents.
        """
        _feed("build", IndexOptions, cls(folder), data, text, id, options)
        return cls(folder)

    def add(self, data: Any, *, text: Hashable | None = None, id: Hashable | None = None, **options: Unpack[IndexInputOptions]) -> None:
        """Add documents. A document replaces one with the same id."""
        _feed("add", IndexInputOptions, self, data, text, id, options)

    def delete(self, ids: Iterable[Any]) -> None:
        """Remove the documents with these ids."""
        if isinstance(ids, str):
            raise UsageError("ids is a str: give a list of ids")
        names = [str(id) for id in ids]
        for start in range(0, len(names), 1000):  # a thousand ids fit into a command line
            self._run("delete", names[start : start + 1000])

    @overload
    def search(
        self,
        data: Path | Sequence[str] | Sequence[Mapping[str, Any]] | Mapping[Any, str],
        *,
        text: Hashable | None = None,
        id: Hashable | None = None,
        **options: Unpack[QueryOptions],
    ) -> list[Match]: ...

    @overload
    def search(self, data: Any, *, text: Hashable | None = None, id: Hashable | None = None, **options: Unpack[QueryOptions]) -> Any: ...

    def search(self, data: Any, *, text: Hashable | None = None, id: Hashable | None = None, **options: Unpack[QueryOptions]) -> Any:
        """Return, for each query, the documents that are similar to it, the most similar first.

        For data frames it returns a table of the same kind with the columns query, id,
        similarity, and the columns that the index stores; for texts, records and paths a list of
        Match. Queries are named by the column ``id``, else by the rows' own labels.
        """
        call = Call("search", QueryOptions, options, progress=False)
        call.name(text, id)
        source: Source = held(source_of(data))
        with call.begin(isinstance(source, Rows)):
            fields: dict[str, Any] = {"text_field": call.text, "id_field": call.id}
            if isinstance(source, Rows):
                column, label = choose_text(source, call.text, call.id), choose_label(source, call.id)
                rows = source.tuples([] if column is None else [column])
                paths = [_write(call, source, label, "query", [ID, _name(column)], ((i, *row) for i, row in enumerate(rows)))]
                fields = {"text_field": _name(column), "id_field": ID}
            else:
                paths = source
            flags = arguments({**call.options, **fields})
            outcome = call.run_plainly("search", "--json", *flags, "--", self.folder, *paths, by=self._held)
            found = [(f["query"], m) for f in map(json.loads, outcome.output.splitlines()) for m in f["matches"]]
            queries: Any = [query for query, _ in found]
            if isinstance(source, Rows):
                queries = source.labels(list(map(int, queries)), label)
            matches = [m for _, m in found]
            if isinstance(source, Rows) and source.frames:
                table = {"query": queries, **{name: [m[name] for m in matches] for name in ("id", "similarity")}}
                names = self._columns()
                return source.table({**table, **{name: [m.get("columns", {}).get(name) for m in matches] for name in names}})
            return Results(Match(q, m["id"], m["similarity"], m.get("columns", {})) for q, m in zip(plain(queries), matches, strict=True))

    def info(self) -> dict[str, str]:
        """Return the settings and counts of the index, as ``alike index info`` prints them."""
        lines = self._run("info").decode("utf-8", "replace").splitlines()
        return dict(re.split(" +", line, maxsplit=1) for line in lines if " " in line)

    @overload
    def check(self, data: Path, *, add: bool = False, threshold: float = 0.8, top: int = 5, passages: int = 5) -> dict[str, Any]: ...

    @overload
    def check(self, data: Any, *, add: bool = False, threshold: float = 0.8, top: int = 5, passages: int = 5) -> list[dict[str, Any]]: ...

    def check(self, data: Any, *, add: bool = False, threshold: float = 0.8, top: int = 5, passages: int = 5) -> Any:
        """Tell whether a text is new, as ``alike check`` does, without missing a document.

        data is a text (str), a file (pathlib.Path), or several texts: a dict of ids to texts, a list, a column of a
        data frame. The answer is a dict with new, nearest and why; to several texts a list of them. add: a new text
        is added under its id, and compared with the texts after it.
        """
        if self._held is None:
            with Index(self.folder) as opened:
                return opened.check(data, add=add, threshold=threshold, top=top, passages=passages)
        call = Call("check", QueryOptions, {}, progress=False)
        flags = arguments({"threshold": threshold, "top": top, "passages": passages})
        with call.begin(in_memory=True):
            path = os.path.join(call.folder, "text")

            def ask(path: str, id: str | None) -> dict[str, Any]:
                adding = [] if not add else ["--add"] if id is None else ["--add", "--id", id]
                output = call.run_plainly("check", "--index", self.folder, *flags, *adding, "--", path, by=self._held).output
                answer: dict[str, Any] = json.loads(output)
                return answer

            if isinstance(data, os.PathLike):
                return ask(os.fspath(data), None)
            one = isinstance(data, str)
            if add and not isinstance(data, Mapping):
                raise UsageError("add needs ids: give a dict of ids to texts, or a file")
            answers = []
            for id, text in _texts([data] if one else data):
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(text)
                answers.append(ask(path, id))
            return answers[0] if one else answers

    def verify(self) -> None:
        """Read and compare the whole index. Raise an AlikeError that names the damage, if there is any."""
        self._run("check")

    def compact(self) -> None:
        """Make the folder as small as it can be."""
        self._run("compact")

    def _columns(self) -> list[str]:
        return [name for name in self.info()["columns"].split(",") if name]

    def _run(self, what: str, ids: Sequence[str] = ()) -> bytes:
        call = Call(what, QueryOptions, {}, progress=False)
        with call.begin(in_memory=False):
            return call.run_plainly("index", what, "--", self.folder, *ids, by=self._held).output


def _texts(data: Any) -> Iterator[tuple[str | None, str]]:
    """Yield texts, with their ids if they have some."""
    if isinstance(data, Mapping):
        yield from ((str(id), text) for id, text in data.items())
        return
    rows = held(source_of(data))
    if not isinstance(rows, Rows):
        raise UsageError("check takes texts, or one file as a pathlib.Path: for files of records take search")
    column = choose_text(rows, None, None)
    for (text,) in rows.tuples([column]) if column is not None else rows.tuples([]):
        yield None, text


def _name(text: Hashable | None) -> str:
    return "text" if text is None else str(text)


def _feed(what: str, known: type, index: Index, data: Any, text: Hashable | None, id: Hashable | None, options: Mapping[str, Any]) -> None:
    """Build an index of documents, or add documents to one."""
    call = Call(what, known, options, progress=False)
    call.name(text, id)
    source: Source = held(source_of(data))
    wanted = call.options.pop("columns", [])
    wanted = wanted.split(",") if isinstance(wanted, str) else list(wanted)
    with call.begin(isinstance(source, Rows)):
        fields: dict[str, Any] = {"text_field": call.text, "id_field": call.id}
        if isinstance(source, Rows):
            column, label = choose_text(source, call.text, call.id), choose_label(source, call.id)
            fields = {"text_field": _name(column), "id_field": ID}
            if what == "add":
                wanted = index._columns()
            asked = [call.options.get("time_field"), check_within(source, call.options.get("within"))]
            paths = [_documents(call, source, column, label, [*wanted, *filter(None, asked)])]
        else:
            paths = source
        if what == "build" and wanted:
            fields["columns"] = ",".join(wanted)
        call.run_plainly("index", what, *arguments({**call.options, **fields}), "--", index.folder, *paths, by=index._held)


def kept_beside(call: Call, rows: Rows, flags: Sequence[str]) -> bytearray:
    """Run dedup over rows with their own ids, beside an index. Return a byte for every row: 1 if it is kept, else 0."""
    column, label = choose_text(rows, call.text, call.id), choose_label(rows, call.id)
    asked = [check_field(rows, call.options.get("keep")), check_within(rows, call.options.get("within"))]
    path = _documents(call, rows, column, label, list(filter(None, asked)))
    numbers: dict[str, int] = {}
    ids = rows.mapping if isinstance(rows, Texts) else (id for (id,) in rows.tuples([label]))
    for number, id in enumerate(ids):
        if id is None:
            raise UsageError(f"row {number} has no id: documents of an index are found by theirs")
        numbers.setdefault(str(id), number)  # the program skips later rows of an id
    call.text, call.number = _name(column), ID
    return call.kept_by(numbers, len(rows), [path], *flags)


def _documents(call: Call, rows: Rows, text: Hashable | None, label: Hashable | None, columns: Sequence[str]) -> str:
    """Write rows with their ids. Return the path."""
    names = list(dict.fromkeys([_name(text), *columns]))
    if isinstance(rows, Texts):
        return _write(call, rows, None, "input", [ID, "text"], ((str(key), value) for key, value in rows.mapping.items()))
    if label is None:
        raise UsageError("documents of an index have ids: name the column with them, id=…, or give a dict of ids to texts")
    for name in columns:
        if name not in (rows.names() or ()):
            raise UsageError(f"there is no column {name!r} for the index to keep")
    of = rows.tuples([label, *([] if text is None else [text]), *names[1:]])
    return _write(call, rows, label, "input", [ID, *names], ((None if id is None else str(id), *values) for id, *values in of))


def _write(call: Call, rows: Rows, label: Hashable | None, side: str, names: Sequence[str], values: Iterable[Sequence[Any]]) -> str:
    path = os.path.join(call.folder, side + ".jsonl")
    write_records(path, names, values)
    call.label(path, rows, label)
    return path


for _method, _known in ((Index.add, IndexInputOptions), (Index.search, QueryOptions), (Index.build.__func__, IndexOptions)):  # type: ignore[attr-defined]
    documented(_known)(_method)
