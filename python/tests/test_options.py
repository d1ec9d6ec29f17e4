"""Keyword arguments are the flags of the command, with their names and defaults."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from conftest import command

import alike
from alike._options import (
    CompareOptions,
    DecontaminateOptions,
    DedupOptions,
    EntitiesOptions,
    IndexInputOptions,
    IndexOptions,
    MatchOptions,
    PairsOptions,
    PassagesOptions,
    QueryOptions,
    SketchOptions,
    StreamOptions,
    TableOptions,
    default,
)

# Flags that the functions have otherwise, or that say how the command talks to people.
ELSEWHERE = {
    "output", "against", "with", "ids_only", "no_sync", "dry_run", "progress", "json", "hex", "passages",
    "explain", "explain_pairs", "verbose", "index", "left_id", "right_id", "truth", "plot", "skipped",
    "audit", "audit_labels", "baseline", "duplicates", "replay", "sarif", "tag", "tag_prefix", "write_baseline",
    "report", "by",
}  # fmt: skip


def flags(name: str) -> dict[str, tuple[str, str | None, str | None]]:
    """Return the flags of a command with the types and defaults that its help tells: the default, or that of the usual case."""
    found = {}
    for line in command(*name.split(), "--help-all").splitlines():
        match = re.match(r" +(?:-\w, |    )--([\w-]+)(?: (\w+))?  +(.*)", line)
        if not match:
            continue
        told = re.search(r"\(default \"?(.*?)\"?\)$", match[3])
        usual = re.search(r"\(default: (.*?);.*\)$", match[3])  # (default: auto; of records topk)
        found[match[1].replace("-", "_")] = (match[2] or "bool", told and told[1], usual and usual[1])
    return found


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("dedup", DedupOptions),
        ("pairs", PairsOptions),
        ("passages", PassagesOptions),
        ("decontaminate", DecontaminateOptions),
        ("sketch", SketchOptions),
        ("compare", CompareOptions),
        ("join", TableOptions),
        ("entities", EntitiesOptions),
        ("index build", IndexOptions),
        ("index add", IndexInputOptions),
        ("stream", StreamOptions),
        ("search", QueryOptions),
    ],
)
def test_every_flag_is_a_keyword_argument_with_its_default(name: str, options: type) -> None:
    own = {"time_field", "text_field", "id_field", "format", "on_error"} if options is StreamOptions else set[str]()
    of_command = {flag: v for flag, v in flags(name).items() if flag not in ELSEWHERE | own}
    assert set(of_command) == set(options.__annotations__) - {"with_"}
    kinds = {"int": "int", "uint": "int", "float": "float", "bool": "bool"}
    for flag, (kind, told, usual) in of_command.items():
        assert kinds.get(kind, str(options.__annotations__[flag].__forward_arg__)) == options.__annotations__[flag].__forward_arg__
        meant = default(options, flag)
        if told is not None:
            assert str(meant).lower() == told.lower(), flag
        else:
            assert meant in (None, 0, False) or str(meant) == usual, flag


def test_the_options_of_a_match_are_flags() -> None:
    of_command = flags("match")
    assert set(MatchOptions.__annotations__) == set(of_command) - {"format", "max_record", "on_error", "skipped"}
    assert default(MatchOptions, "top") == int(of_command["top"][1] or 0)


def test_the_signature_shows_the_options() -> None:
    parameters = inspect.signature(alike.dedup).parameters
    assert parameters["threshold"].default == 0.8
    assert parameters["keep"].default == "first"
    assert list(parameters)[:2] == ["data", "output"]


@pytest.mark.parametrize("function", [alike.dedup, alike.dedup_mask, alike.pairs, alike.sketch])
def test_an_unknown_option_is_a_type_error_with_a_hint(function: Any) -> None:
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'ngrams': did you mean ngram\?$"):
        function(["a"], ngrams=3)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        alike.compare("a", "b", zzz=1)


def test_options_reach_the_program() -> None:
    one, other = "Ärger mit dem Wasser im Keller", "arger mit dem wasser im keller"
    assert alike.dedup([one, other], fold=True) == [one, other]
    assert alike.dedup([one, other], strip_diacritics=True) == [one]
    assert alike.dedup([one, other], strip_diacritics=True, fold=False) == [one, other]
    assert alike.pairs(["a b c d e f", "a b c d e g"], ngram=1, threshold=0.5, shared=True, candidates="lsh")[0]._fields[3] == "shared"
    assert alike.dedup([one, other], strip_diacritics=True, memory=256 << 20, threads=1, max_record="1MiB") == [one]
    assert alike.dedup([one, other], threshold=None) == [one, other]  # type: ignore[typeddict-item]


def test_text_and_text_field_are_one_option() -> None:
    rows = [{"body": "a b c", "x": "y"}] * 2
    assert alike.dedup(rows, text="body") == alike.dedup(rows, text_field="body") == rows[:1]
    with pytest.raises(alike.UsageError, match="text and text_field are the same"):
        alike.dedup(rows, text="body", text_field="body")
