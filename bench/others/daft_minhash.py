"""Candidate pairs by Daft's MinHash, as its guide to deduplication has it: normalise, sketch,
cut the signatures into bands, group documents by band.

    daft_minhash.py CORPUS.jsonl PAIRS.csv BANDS ROWS

Candidates are not checked.
"""

import itertools
import sys

import daft
from daft import col
from daft.functions import chunk, minhash, normalize


def main(corpus, output, bands, rows):
    text = normalize(col("text"), remove_punct=True, lowercase=True, white_space=True)
    signature = minhash(text, num_hashes=bands * rows, ngram_size=5, seed=42, hash_function="xxhash")
    groups = (
        daft.read_json(corpus)
        .select(col("id"), chunk(signature, rows).alias("band"))
        .with_column("number", daft.lit(list(range(bands))))
        .explode("band", "number")
        .groupby("number", "band")
        .agg(col("id").list_agg(), col("id").count().alias("size"))
        .where(col("size") > 1)
        .select("id")
        .to_pydict()["id"]
    )
    pairs = {pair for group in groups for pair in itertools.combinations(sorted(group), 2)}
    with open(output, "w") as out:
        out.write("a,b\n")
        out.writelines(f"{a},{b}\n" for a, b in sorted(pairs))


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
