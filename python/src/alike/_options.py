"""The flags of the commands as keyword arguments.

Each flag has the name and the default that it has on the command line, with ``_`` for ``-``.
``alike help COMMAND`` says what it does. ``tests/test_options.py`` holds this file against it.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Real
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar

from ._errors import UsageError

Path: TypeAlias = "str | os.PathLike[str]"
Size = int | str  # bytes, or "256MiB"

Measure = Literal["jaccard", "containment", "max-containment", "cosine", "dice", "overlap", "weighted-jaccard"]
Tokens = Literal["words", "alnum", "uax29", "space", "chars", "graphemes", "ascii"]
Fingerprint = Literal["hash4j-fastsimhash", "hash4j-simhash", "exlsh-word", "exlsh-char"]


class TextOptions(TypedDict, total=False):
    """How to turn a text into features."""

    ngram: int
    tokens: Tokens
    normalize: Literal["nfkc", "nfc", "none"]
    fold: bool
    strip_diacritics: bool
    stop_words: Path
    min_token_length: int
    shingle_hash: Literal["fnv1"]
    repetitions: bool


class SchemeOptions(TypedDict, total=False):
    """How to turn features into a signature."""

    scheme: str
    seed: int
    permutations: Path


class PresetOptions(TypedDict, total=False):
    """Parameters of a preset that makes the fingerprints of another program."""

    bits: int
    hash: str


class ReadingOptions(TypedDict, total=False):
    """How to read documents."""

    format: Literal["jsonl", "csv", "tsv", "parquet", "lines", "text"]
    text_field: str
    id_field: str
    max_record: Size
    on_error: Literal["skip", "fail"]
    threads: int
    memory: Size
    quiet: bool


class PretextOptions(ReadingOptions, total=False):
    """How to read documents that a program turns into text."""

    pre: str
    pre_glob: str | Sequence[str]
    pre_timeout: str


class InputOptions(PretextOptions, total=False):
    """What to read, and with what resources."""

    work: Path
    fresh: bool
    timings: Path


class PassagesOptions(ReadingOptions, total=False):
    """What to cut out of texts."""

    work: Path
    fresh: bool
    timings: Path
    unit: Literal["line", "sentence", "paragraph", "substring"]
    min_tokens: int
    min_count: int
    threshold: float
    ngram: int
    keep: Literal["first"]
    code: bool
    found_only: bool


class ItemsOptions(InputOptions, total=False):
    """What to look for in texts."""

    question: str
    answer: str
    passage: str
    threshold: float


class DecontaminateOptions(ItemsOptions, total=False):
    """What to look for in texts, and what to do with it."""

    cut: bool
    found_only: bool


class SearchOptions(TypedDict, total=False):
    """Which pairs are wanted."""

    preset: Literal["broder", "features"] | Fingerprint
    measure: Measure
    threshold: float
    distance: int
    recall: float
    candidates: Literal["auto", "lsh", "exact"]
    verify: Literal["exact", "sketch", "none"]
    bands: int
    rows: int
    min_bands: int
    bucket_cap: int


class CorpusOptions(SearchOptions, TextOptions, SchemeOptions, PresetOptions, InputOptions, total=False):
    """What dedup and pairs have in common."""

    fingerprints: bool
    recipe: Literal["auto"]
    wrong: float
    third_texts: bool
    within: str


class RecordOptions(TypedDict, total=False):
    """Options for the records of a table, in place of texts."""

    records: bool
    field: str | Sequence[str]
    source: str | Sequence[str]
    same: str | Sequence[str]
    verdicts: Path
    config: Path
    save_config: Path
    idf: Literal["exact", "sketch", "none", "rare", "rarest"]
    idf_epsilon: float
    idf_delta: float


class DedupOptions(CorpusOptions, RecordOptions, total=False):
    """Flags of ``alike dedup``."""

    keep: str
    cluster: Literal["components", "star", "whole", "held"]
    accept: bool
    precision: float
    model: Path


class PairsOptions(CorpusOptions, RecordOptions, total=False):
    """Flags of ``alike pairs``."""

    shared: bool
    model: Path
    match: Literal["auto", "mutual", "one-to-one", "best", "all"]
    precision: float
    probability: bool
    top: int
    summary: Path
    clusters: Path


class JoinOptions(TypedDict, total=False):
    """How to compare the records of two tables, and which pairs are links."""

    field: str | Sequence[str]
    match: Literal["auto", "mutual", "one-to-one", "best", "best-right", "all"]
    config: Path
    memory: Size
    threshold: float | Literal["auto"]
    precision: float
    model: Path
    top: int
    probability: bool
    idf: Literal["exact", "sketch", "none"]
    idf_epsilon: float
    idf_delta: float
    measure: Literal["cosine", "weighted-jaccard"]
    repetitions: bool
    candidates: Literal["topk", "keys", "lsh", "exact", "auto"]
    recall: float


class TableOptions(JoinOptions, total=False):
    """Flags of ``alike join``."""

    format: Literal["jsonl", "csv", "tsv", "parquet"]
    max_record: Size
    on_error: Literal["skip", "fail"]
    threads: int
    work: Path
    fresh: bool
    quiet: bool
    with_: str | Sequence[str]
    source: str | Sequence[str]
    same: str | Sequence[str]
    against_links: Path
    verdicts: Path
    save_config: Path
    summary: Path


class EntitiesOptions(TypedDict, total=False):
    """Flags of ``alike entities``."""

    unique: str | Sequence[str]
    known: Path
    changes: Path
    save_config: Path
    id_field: str
    field: str | Sequence[str]
    same: str | Sequence[str]
    config: Path
    format: Literal["jsonl", "csv", "tsv", "parquet"]
    max_record: Size
    on_error: Literal["skip", "fail"]
    threads: int
    memory: Size
    threshold: float | Literal["auto"]
    precision: float
    model: Path
    idf: Literal["exact", "sketch", "none"]
    idf_epsilon: float
    idf_delta: float
    measure: Literal["cosine", "weighted-jaccard"]
    repetitions: bool
    candidates: Literal["topk", "keys", "lsh", "exact", "auto"]
    recall: float
    summary: Path
    verdicts: Path
    quiet: bool


class MatchOptions(TypedDict, total=False):
    """Flags of ``alike match``."""

    entities: Path
    top: int
    id_field: str
    threads: int
    quiet: bool


class IndexInputOptions(PretextOptions, total=False):
    """How to read documents for an index."""

    time_field: str


class IndexOptions(TextOptions, SchemeOptions, PresetOptions, IndexInputOptions, total=False):
    """Flags of ``alike index build``."""

    keep: Literal["text", "features", "nothing"]
    keys: Literal["memory", "disk"]
    containment: int
    columns: str | Sequence[str]
    within: str
    preset: Literal["broder", "features"] | Fingerprint
    recipe: Literal["auto"]
    wrong: float
    measure: Measure
    threshold: float
    distance: int
    recall: float
    verify: Literal["exact", "sketch", "none"]
    bands: int
    rows: int
    min_bands: int
    bucket_cap: int


class StreamOptions(TextOptions, SchemeOptions, PresetOptions, total=False):
    """Flags of ``alike stream``."""

    recipe: Literal["auto"]
    wrong: float
    sample: Path
    window: str
    late: str
    window_docs: int
    refresh: bool
    within: str
    state: Path
    keys: Literal["memory", "disk"]
    preset: Literal["broder", "features"] | Fingerprint
    measure: Measure
    threshold: float
    distance: int
    recall: float
    verify: Literal["exact", "sketch", "none"]
    bands: int
    rows: int
    min_bands: int
    bucket_cap: int
    max_record: Size
    metrics: str
    threads: int
    memory: Size
    quiet: bool


class QueryOptions(PretextOptions, total=False):
    """Flags of ``alike search``."""

    measure: Measure
    threshold: float
    recall: float
    candidates: Literal["auto", "lsh", "exact"]
    top: int


class SketchOptions(TextOptions, SchemeOptions, PresetOptions, InputOptions, total=False):
    """Flags of ``alike sketch``."""

    preset: Fingerprint
    measure: Literal["jaccard", "weighted-jaccard"]


class CompareOptions(TextOptions, SchemeOptions, total=False):
    """Flags of ``alike compare``."""

    measure: Measure


# Defaults of the flags. None: the command decides, or there is no value.
DEFAULTS: Mapping[str, Any] = {
    "unique": None,
    "known": None,
    "changes": None,
    "entities": None,
    "tag": False,
    "tag_prefix": "",
    "ngram": 5,
    "tokens": "words",
    "normalize": "nfkc",
    "fold": True,
    "strip_diacritics": False,
    "stop_words": None,
    "min_token_length": 0,
    "shingle_hash": None,
    "repetitions": False,
    "scheme": "minhash/oph/v1 k=128 bits=32 seed=1",
    "seed": 1,
    "permutations": None,
    "bits": 64,
    "hash": "md5",
    "format": None,
    "pre": None,
    "pre_glob": None,
    "pre_timeout": "1m0s",
    "text_field": "text",
    "id_field": "id",
    "max_record": "64MiB",
    "on_error": "skip",
    "threads": 0,
    "memory": None,
    "work": None,
    "fresh": False,
    "unit": None,
    "min_tokens": 0,
    "min_count": 2,
    "code": False,
    "found_only": False,
    "question": None,
    "answer": None,
    "passage": None,
    "cut": False,
    "within": None,
    "timings": None,
    "quiet": False,
    "preset": None,
    "measure": "jaccard",
    "threshold": 0.8,
    "distance": 0,
    "recall": 0.99,
    "candidates": "auto",
    "verify": "exact",
    "bands": 0,
    "rows": 0,
    "min_bands": 1,
    "bucket_cap": 1000,
    "keep": "first",
    "against": None,
    "cluster": None,
    "accept": False,
    "shared": False,
    "third_texts": False,
    "fingerprints": None,
    "recipe": None,
    "sample": None,
    "wrong": 0.01,
    "partitions": None,
    "records": False,
    "field": None,
    "source": None,
    "same": None,
    "match": "auto",
    "config": None,
    "precision": None,
    "model": None,
    "top": None,
    "with_": None,
    "idf": "exact",
    "idf_epsilon": 1e-05,
    "idf_delta": 0.01,
    "against_links": None,
    "probability": False,
    "save_config": None,
    "summary": None,
    "clusters": None,
    "verdicts": None,
    "time_field": None,
    "window": None,
    "late": "0s",
    "window_docs": None,
    "refresh": False,
    "state": None,
    "metrics": None,
    "containment": 0,
    "keys": None,
    "columns": None,
}

# Defaults that differ in a command.
OF_JOINS: Mapping[str, Any] = {"threshold": "auto", "measure": "cosine", "candidates": None}
OTHER_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "DedupOptions": {"idf": None},
    "PairsOptions": {"idf": None},
    "DecontaminateOptions": {"threshold": 0.75},
    "PassagesOptions": {"threshold": None, "ngram": 1},
    "EntitiesOptions": {**OF_JOINS, "id_field": None},
    "MatchOptions": {"top": 3, "id_field": None},
    "TableOptions": OF_JOINS,
    "EngineTableOptions": OF_JOINS,
    "FilesTableOptions": OF_JOINS,
    "IndexOptions": {"keep": None, "bucket_cap": 64},
    "StreamOptions": {"keys": "memory", "bucket_cap": 64},
    "CompareOptions": {"scheme": None},
    "QueryOptions": {"threshold": None, "measure": None},
}


def default(known: type, name: str) -> Any:
    """Return the default of an option."""
    return OTHER_DEFAULTS.get(known.__name__, {}).get(name, DEFAULTS[name])


def arguments(options: Mapping[str, Any]) -> Iterator[str]:
    """Yield options as flags of the command. An option that is None is not given."""
    for name, value in options.items():
        if value is None:
            continue
        flag = "--" + name.rstrip("_").replace("_", "-")
        if isinstance(value, bool):
            yield f"{flag}={str(value).lower()}"
        elif isinstance(value, (list, tuple)):  # a flag that may be repeated
            yield from (f"{flag}={item}" for item in value)
        elif isinstance(value, (str, Real, os.PathLike)):
            yield f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else str(value)}"
        else:
            raise UsageError(f"{name} is {type(value).__name__}: take a string or a number")


def path_of(name: str, value: Any) -> str:
    """Return the path that an argument is."""
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str):
        raise UsageError(f"{name} is of type {type(value).__name__}: give a path")
    return path


def check(function: str, options: Mapping[str, Any], known: type) -> None:
    """Refuse options that a function does not have, with Python's own error."""
    for name in options:
        if name not in known.__annotations__:
            near = difflib.get_close_matches(name, known.__annotations__, 1)
            hint = f": did you mean {near[0]}?" if near else ""
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


F = TypeVar("F", bound=Callable[..., Any])


class _Shown(str):
    """An annotation as it stands in the source, which help() and notebooks show without quotation marks."""

    __slots__ = ()
    __repr__ = str.__str__


def _shown(annotation: Any) -> Any:
    if annotation is inspect.Parameter.empty:
        return annotation
    return _Shown(getattr(annotation, "__forward_arg__", annotation))


def documented(known: type) -> Callable[[F], F]:
    """Show the options in the signature of a function that takes them as ``**options``."""

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        own = [p.replace(annotation=_shown(p.annotation)) for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default(known, name), annotation=_shown(annotation))
            for name, annotation in known.__annotations__.items()
        ]
        back = _shown(signature.return_annotation)
        function.__signature__ = signature.replace(parameters=[*own, *options], return_annotation=back)  # type: ignore[attr-defined]
        return function

    return decorate
