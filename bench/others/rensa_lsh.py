"""Duplicates by rensa, in two ways that its own documentation shows.

    rensa_lsh.py CORPUS.jsonl DUPLICATES.csv THRESHOLD stream [BANDS]
    rensa_lsh.py CORPUS.jsonl DUPLICATES.csv THRESHOLD rho

stream: RMinHashDeduplicator.add_pairs, the README's usage, with the library's own
number of bands or another; a document that follows one like it is written out.
rho: the batch pipeline of the README's comparison, with the 8 bands and 4 probes
of rensa's own benchmark; every document that has a duplicate is written out, the
first one of them too.
"""

import sys

from grams import documents, grams
from rensa import RMinHash, RMinHashDeduplicator, RMinHashLSH

BATCH = 2_000  # documents whose grams are in memory at once


def batches(corpus):
    ids, sets = [], []
    for name, text in documents(corpus):
        ids.append(name)
        sets.append(grams(text))
        if len(ids) == BATCH:
            yield ids, sets
            ids, sets = [], []
    if ids:
        yield ids, sets


def stream(corpus, threshold, bands):
    dedup = RMinHashDeduplicator(threshold=threshold, num_perm=128, use_lsh=True, num_bands=bands)
    for ids, sets in batches(corpus):
        kept = dedup.add_pairs(zip(ids, sets))
        yield from (name for name, keep in zip(ids, kept) if not keep)


def rho(corpus, threshold):
    ids = []

    def sets():
        for name, text in documents(corpus):
            ids.append(name)
            yield grams(text)

    matrix = RMinHash.digest_matrix_from_token_sets_rho(sets(), num_perm=128, seed=42, probes=4)
    lsh = RMinHashLSH(threshold=threshold, num_perm=128, num_bands=8)
    flags = lsh.query_duplicate_flags_matrix_one_shot(matrix)
    yield from (name for name, flag in zip(ids, flags) if flag)


def main(corpus, output, threshold, way, bands=None):
    found = rho(corpus, threshold) if way == "rho" else stream(corpus, threshold, bands and int(bands))
    with open(output, "w") as out:
        out.write("id\n")
        out.writelines(name + "\n" for name in found)


main(sys.argv[1], sys.argv[2], float(sys.argv[3]), *sys.argv[4:])
