"""entities: the things of which the records of several tables tell."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._call import Call
from ._items import Entity
from ._options import EntitiesOptions, Path, arguments, documented, path_of
from ._show import Results

if TYPE_CHECKING:
    from typing_extensions import Unpack


@documented(EntitiesOptions)
def entities(tables: Sequence[Path], *, output: Path | None = None, **options: Unpack[EntitiesOptions]) -> list[Entity] | None:
    """Find the records of any number of tables that are one thing: one person, product or place.

    tables are paths. It returns a list of Entity, one for each record, in the order of the tables;
    or it writes the file that ``alike entities -o`` writes, and returns None.

    unique: the tables that have each thing once. known: entities of an earlier run, which keep
    their names; changes is then the file for what was merged, split and founded.
    """
    call = Call("entities", EntitiesOptions, options, progress=False)
    if call.id is not None:
        call.options["id_field"] = call.id
    with call.begin(in_memory=False):
        file = os.path.join(call.folder, "entities.csv") if output is None else path_of("output", output)
        call.run_plainly("entities", f"--output={file}", *arguments(call.options), "--", *(path_of("a table", table) for table in tables))
        if output is not None:
            return None
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as lines:
            _, *rows = csv.reader(lines)
        return Results(Entity(table, id, entity, float(probability)) for table, id, entity, probability in rows)
