"""decontaminate keeps the rows in which no item of an evaluation set stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_kinds import KINDS, texts_of

import alike

QUESTION = "Which property of peat moss lets a bog keep rain water far above the level of the surrounding streams?"
PROSE = "The ferry was late again, and the baker had sold his last loaf before noon."
TEXTS = [PROSE, f"{PROSE} {QUESTION} Its hollow dead cells. {PROSE}", None, "Nobody minded the drizzle, least of all the gulls."]
EVALS = [{"id": "moss", "question": QUESTION, "answer": "Its hollow dead cells"}]


@pytest.fixture
def evals(tmp_path: Path) -> str:
    """Return the path of an evaluation set."""
    path = tmp_path / "moss.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in EVALS))
    return str(path)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore::alike.SkippedRecords")
def test_rows_of_every_kind_are_kept(kind: Any, evals: str) -> None:
    kept = alike.decontaminate(kind(TEXTS), against=evals, progress=False)
    assert texts_of(kept) == [TEXTS[0], TEXTS[3]]  # a row without a text is in no result
    if kind.__name__ not in ("iter", "data_set_stream"):
        assert len(alike.decontaminate(kind(TEXTS), against=EVALS, found_only=True, progress=False)) == 1


def test_places_are_bytes_of_the_text(evals: str) -> None:
    (place,) = alike.decontaminate({"a": "Ä " + str(TEXTS[1])}, against=evals, found_only=True, progress=False)
    assert (place.document, place.item, place.part, place.score) == ("a", "moss", "question+answer", 1.0)
    assert ("Ä " + str(TEXTS[1])).encode()[place.start : place.end].decode() in QUESTION
    assert alike.decontaminate([{"body": TEXTS[1]}, {"body": PROSE}], text="body", against=[QUESTION], progress=False) == [{"body": PROSE}]
    assert list(alike.decontaminate(iter([TEXTS[1], PROSE]), against=[QUESTION], progress=False)) == [PROSE]
    with pytest.raises(alike.UsageError, match="cut is for files"):
        alike.decontaminate([PROSE], against=[QUESTION], cut=True)


def test_files_fill_a_folder(tmp_path: Path, evals: str) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS) if text))
    summary = alike.decontaminate(str(path), against=evals, output=tmp_path / "out", cut=True, progress=False)
    assert (summary["kept"], summary["cut"], summary["found"]) == (3, 1, 1)
    assert QUESTION not in (tmp_path / "out" / "kept" / "in.jsonl").read_text()
