"""Candidate pairs by FastSketchLSH, with texts cut by polars and grams made by numpy,
so that no Python runs a document.

    fastsketch_lsh.py CORPUS.jsonl PAIRS.csv BANDS [THRESHOLD]

128 components; BANDS bands of them, as in its README. With a threshold, candidates are
checked by the share of equal components. A text of fewer than five words has one gram.
"""

import sys

import numpy as np
import polars as pl
from FastSketchLSH import LSH, FastSimilaritySketch

GRAM = 5  # words
STEP = np.uint64(0x9E3779B97F4A7C15)  # odd: a gram is a polynomial of the hashes of its words


def grams(words, sizes):
    """The hashes of the grams of all documents, one behind the other, and where each document's begin."""
    rolled = np.zeros(max(0, len(words) - GRAM + 1), np.uint64)
    for j in range(GRAM):
        rolled = rolled * STEP + words[j : j + len(rolled)]
    ends = np.cumsum(sizes)
    starts = ends - sizes
    whole = np.maximum(sizes - GRAM + 1, 0)
    keep = np.zeros(len(words) + 1, np.int64)  # +1 where grams of a document begin, −1 behind them
    np.add.at(keep, starts, whole > 0)
    np.add.at(keep, starts + whole, -(whole > 0).astype(np.int64))
    data = rolled[np.cumsum(keep)[: len(rolled)] > 0]
    indptr = np.concatenate(([0], np.cumsum(whole)))
    short = np.flatnonzero((sizes > 0) & (whole == 0))
    if len(short):  # rare: grams of fewer words
        hashes = [np.bitwise_xor.reduce(words[starts[d] : ends[d]] * STEP) for d in short]
        data = np.insert(data, indptr[short], hashes)
        indptr[1:] += np.cumsum((sizes > 0) & (whole == 0))
    return data, indptr.astype(np.uint64)


def main(corpus, output, bands, threshold=0.0):
    frame = pl.read_ndjson(corpus, schema={"id": pl.String, "text": pl.String})
    cut = frame.select(words=pl.col("text").str.to_lowercase().str.extract_all(r"\w+"))["words"]
    sizes = cut.list.len().to_numpy().astype(np.int64)
    words = cut.explode(empty_as_null=False).hash(seed=1).to_numpy()
    data, indptr = grams(words, sizes)
    matrix = FastSimilaritySketch(size=128, seed=42).batch_csr(data, indptr, prehashed=True)
    lsh = LSH(num_perm=128, num_bands=bands)
    lsh.insert(matrix)
    found, starts = lsh.query(matrix, format="csr")
    asking = np.repeat(np.arange(len(frame)), np.diff(starts.astype(np.int64)))
    found = found.astype(np.int64)
    pairs = np.unique(np.stack((found, asking), 1)[found < asking], axis=0)
    pairs = pairs[sizes[pairs[:, 0]] > 0]  # an empty text has no set
    if threshold > 0:
        equal = np.concatenate([(matrix[part[:, 0]] == matrix[part[:, 1]]).mean(axis=1) for part in np.array_split(pairs, len(pairs) // 4096 + 1)])
        pairs = pairs[equal >= threshold]
    ids = frame["id"]
    pl.DataFrame({"a": ids[pairs[:, 0]], "b": ids[pairs[:, 1]]}).write_csv(output)


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(float, sys.argv[4:]))
