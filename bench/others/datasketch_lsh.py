"""Pairs by datasketch: MinHash.generator and MinHashLSH, queried and then filled, document by document.

    datasketch_lsh.py CORPUS.jsonl PAIRS.csv THRESHOLD sha1|xxhash none|sketch

sha1 is the library's default; another hash function is an option that its
documentation names for speed. With sketch, a candidate stays if the estimate of
its similarity reaches the threshold, as the documentation of MinHashLSH.query
advises.
"""

import sys

import xxhash
from datasketch import MinHash, MinHashLSH
from grams import documents, grams


def main(corpus, output, threshold, hashing, verify):
    ids = []

    def encoded():
        for name, text in documents(corpus):
            ids.append(name)
            yield [gram.encode() for gram in grams(text)]

    options = {"hashfunc": xxhash.xxh32_intdigest} if hashing == "xxhash" else {}
    lsh = MinHashLSH(threshold=threshold, num_perm=128)
    sketches = []  # of the documents so far, for the estimates
    with open(output, "w") as pairs:
        pairs.write("a,b\n")
        for number, sketch in enumerate(MinHash.generator(encoded(), num_perm=128, **options)):
            if verify == "sketch":
                sketches.append(sketch)
            if sketch.is_empty():
                continue
            for other in lsh.query(sketch):
                if verify == "none" or sketch.jaccard(sketches[other]) >= threshold:
                    pairs.write(f"{ids[other]},{ids[number]}\n")
            lsh.insert(number, sketch, check_duplication=False)


main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4], sys.argv[5])
