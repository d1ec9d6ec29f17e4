"""What functions return, with a look of its own in notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, TypeVar

Item = TypeVar("Item")

MOST = 20  # rows that are shown


class Results(list[Item]):
    """A list of named tuples, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        if not self:
            return "<p>nothing was found</p>"
        names = getattr(self[0], "_fields", ("",))
        rows = [item if isinstance(item, tuple) else (item,) for item in self[:MOST]]
        more = f"<p>{len(self)} rows, of which {len(rows)} are shown</p>" if len(self) > MOST else ""
        return _table(names, rows) + more


class Summary(dict[str, Any]):
    """The summary of a run, with the keys of summary.json, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return _table(("", ""), [(key, value) for key, value in self.items() if not isinstance(value, list | dict)])


def _table(names: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        text = f"{value:.6f}"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}: {part}" for key, part in value.items())
    elif isinstance(value, bytes):
        text = f"{len(value)} bytes"
    else:
        text = str(value)
    return f"<td style='text-align:left'>{escape(text if len(text) <= 200 else text[:200] + '…')}</td>"
