"""The answer of compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any


@dataclass(frozen=True)
class Span:
    """The place of a passage in a text."""

    start: int  # characters of a str, bytes of a file
    end: int
    line: int  # line of the start, from 1 on


@dataclass(frozen=True)
class Passage:
    """A passage that two texts share, word for word."""

    a: Span
    b: Span
    tokens: int
    text: str  # as it stands in a


@dataclass(frozen=True)
class Estimate:
    """The Jaccard similarity as estimated from signatures of a scheme."""

    scheme: str
    similarity: float
    standard_error: float
    equal: int  # number of equal components


@dataclass(frozen=True)
class Comparison:
    """How similar two texts are, and what they share."""

    similarity: float  # by the measure; for a directed measure, of a in b
    measure: str
    reverse: float | None  # for a directed measure, of b in a
    jaccard: float
    features_a: int  # number of distinct shingles
    features_b: int
    intersection: int
    union: int
    text_scheme: str
    estimates: list[Estimate]
    passages: list[Passage]  # longest first

    def _repr_html_(self) -> str:
        """Show the similarity and the shared passages in a notebook."""
        back = "" if self.reverse is None else f", and {self.reverse:.3f} the other way round"
        rows = "".join(
            f"<tr><td>{p.tokens}</td><td>{p.a.line}</td><td>{p.b.line}</td><td style='text-align:left'>{escape(p.text)}</td></tr>"
            for p in self.passages
        )
        head = "<tr><th>tokens</th><th>line of a</th><th>line of b</th><th style='text-align:left'>shared passage</th></tr>"
        return f"<p>{escape(self.measure)} <b>{self.similarity:.3f}</b>{back}</p><table>{head}{rows}</table>"


def comparison(answer: Mapping[str, Any], a: bytes | None, b: bytes | None) -> Comparison:
    """Read the program's answer. a and b are the UTF-8 of texts that were strings, None for files."""
    found = answer.get("passages") or []
    spans = [_spans([p[side] for p in found], text) for side, text in (("a", a), ("b", b))]
    return Comparison(
        similarity=answer.get("similarity", answer["jaccard"]),
        measure=answer.get("measure", "jaccard"),
        reverse=answer.get("reverse"),
        jaccard=answer["jaccard"],
        features_a=answer["features_a"],
        features_b=answer["features_b"],
        intersection=answer["intersection"],
        union=answer["union"],
        text_scheme=answer["text_scheme"],
        estimates=[Estimate(e["scheme"], e["similarity"], e["standard_error"], e["equal"]) for e in answer["estimates"]],
        passages=[Passage(in_a, in_b, p["tokens"], p["text"]) for in_a, in_b, p in zip(*spans, found, strict=False)],
    )


def _spans(places: Sequence[Mapping[str, int]], text: bytes | None) -> list[Span]:
    """Return spans, in characters if the text was a string. It takes one pass over the text for all places."""
    at: dict[int, int] = {}
    if text is not None:
        before = characters = 0
        for offset in sorted({p[end] for p in places for end in ("start", "end")}):
            characters += len(text[before:offset].decode("utf-8", "surrogatepass"))
            at[offset], before = characters, offset
    return [Span(at.get(p["start"], p["start"]), at.get(p["end"], p["end"]), p["line"]) for p in places]
