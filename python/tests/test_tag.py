"""tag says of every row what dedup would do with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_kinds import KINDS

import alike

SAME = "the river rose in the night and by morning the lower street stood under water"
TEXTS = [
    SAME,
    "nobody in the council had expected the old bridge to hold",
    SAME.upper(),
    None,
    "a text of its own, nobody has copied it",
]


def columns(tagged: Any) -> list[tuple[Any, ...]]:
    """Return the tags of each row, in whatever kind of table they stand."""
    if isinstance(tagged, list) and isinstance(tagged[0], alike.Tag):
        return [tuple(t) for t in tagged]
    if isinstance(tagged, dict):
        return [tuple(t) for t in tagged.values()]
    if type(tagged).__module__.startswith("pandas"):
        tagged = tagged.astype(object).where(tagged.notna(), None).to_dict("records")
    elif hasattr(tagged, "to_pylist"):
        tagged = tagged.to_pylist()
    elif hasattr(tagged, "to_dicts"):
        tagged = tagged.to_dicts()
    return [tuple(row[name] for name in ("cluster", "cluster_size", "duplicate_of", "similarity")) for row in tagged]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore::alike.SkippedRecords")
def test_every_kind_of_rows_gets_the_tags(kind: Any) -> None:
    rows = kind(TEXTS)
    labels = list(rows.index) if type(rows).__module__.startswith("pandas") else list(rows) if isinstance(rows, dict) else range(len(TEXTS))
    found = columns(alike.tag(rows))
    assert found == [
        (labels[0], 2, None, None),
        (labels[1], 1, None, None),
        (labels[0], 2, labels[0], 1.0),
        (None, 0, None, None),
        (labels[4], 1, None, None),
    ]


def test_records_keep_their_fields_and_names_are_never_taken_twice() -> None:
    rows = [{"id": "a", "text": SAME, "n": 1}, {"id": "b", "text": SAME, "n": 2}]
    assert alike.tag(rows)[1] == {**rows[1], "cluster": "a", "cluster_size": 2, "duplicate_of": "a", "similarity": 1.0}
    with pytest.raises(alike.UsageError, match="there is a column 'cluster' already"):
        alike.tag([{"text": SAME, "cluster": 1}])
    assert alike.tag([{"text": SAME, "cluster": 1}], prefix="alike_")[0]["alike_cluster"] == 0
    assert alike.tag(rows, records=True, field="text", threshold=0.5)[1]["cluster"] == "a"


def test_files_are_tagged_in_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"id": str(i), "text": text}) + "\n" for i, text in enumerate([SAME, SAME])))
    summary = alike.tag(path, output=tmp_path / "out")
    assert (summary["kept"], summary["tagged"]) == (2, 1)
    last = (tmp_path / "out/kept/in.jsonl").read_text().splitlines()[1]
    assert json.loads(last)["duplicate_of"] == "0"
    with pytest.raises(alike.UsageError, match="go to a folder"):
        alike.tag(path)
