"""alike finds texts that are nearly, but not exactly, the same.

    kept = alike.dedup(frame)            # the rows without near-duplicates
    mask = alike.dedup_mask(frame)       # True for the rows that are kept
    tagged = alike.tag(frame)            # all rows, with cluster, duplicate_of and similarity
    for item in alike.stream(items): …   # the items that are like none before them, one by one
    found = alike.pairs(frame)           # every pair of similar rows: a, b, similarity
    alike.passages("crawl/", output="clean", unit="line")  # repeated lines are cut out of files
    alike.decontaminate(frame, against="evals/")  # the rows in which no item of evaluation sets stands
    alike.compare(text, other).passages  # what two texts share, and where
    alike.sketch(frame)                  # MinHash signatures
    alike.join(frame, other)             # the records of two tables that belong together
    alike.entities(["a.csv", "b.csv"])   # the things of which several tables tell
    alike.match("model.json", "a.csv", frame)  # the records of a table that are one thing with each
    alike.Index("folder").search(frame)  # documents of an index that are similar to texts

Data may be a pandas, Polars or pyarrow object, a Hugging Face data set, texts, records
(dict), an iterator of them, or paths of files. All flags of the command ``alike`` are keyword
arguments. That program, which comes with the package, does the work.
"""

from importlib import metadata as _metadata

from ._api import compare, dedup, dedup_mask, pairs, sketch
from ._binary import DISTRIBUTION as _DISTRIBUTION
from ._compare import Comparison, Estimate, Passage, Span
from ._decontaminate import decontaminate
from ._entities import entities
from ._errors import AlikeError, SkippedRecords, UsageError
from ._index import Index
from ._items import Entity, Fingerprint, Found, Link, Match, Pair, RecordPair, SharedPair, Tag
from ._join import join
from ._matcher import Matcher, match
from ._passages import passages
from ._progress import Progress
from ._show import Results, Summary
from ._stream import stream
from ._tag import tag

try:
    __version__ = _metadata.version(_DISTRIBUTION)
except _metadata.PackageNotFoundError:  # a source tree
    __version__ = "0+source"

__all__ = [
    "AlikeError",
    "Comparison",
    "Entity",
    "Estimate",
    "Fingerprint",
    "Found",
    "Index",
    "Link",
    "Match",
    "Matcher",
    "Pair",
    "RecordPair",
    "Passage",
    "Progress",
    "SharedPair",
    "SkippedRecords",
    "Span",
    "Results",
    "Summary",
    "Tag",
    "UsageError",
    "compare",
    "decontaminate",
    "dedup",
    "dedup_mask",
    "entities",
    "join",
    "match",
    "pairs",
    "passages",
    "sketch",
    "stream",
    "tag",
]
