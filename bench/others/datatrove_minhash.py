"""Removed documents by datatrove: its four minhash steps, each with the local executor.

    datatrove_minhash.py SHARDS WORK english|words   (SHARDS: a folder of JSONL files)
    datatrove_minhash.py collect WORK REMOVED.csv

english is the tokenizer that the documentation uses (spaCy); words is one of our
own, which the library takes too, and splits as the other Python drivers do. The
second form lists what was removed; it is not a part of the time.
"""

import json
import os
import sys
from glob import glob

BUCKETS, ROWS = 16, 8  # 128 hashes


def run(shards, work, tokenizer):
    from datatrove.executor.local import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import (
        MinhashConfig,
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
    )
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers.jsonl import JsonlWriter
    from datatrove.utils.hashing import HashConfig
    from datatrove.utils.typeshelper import Languages

    config = MinhashConfig(
        n_grams=5, num_buckets=BUCKETS, hashes_per_bucket=ROWS, hash_config=HashConfig(precision=64)
    )
    language = Languages.english if tokenizer == "english" else words_tokenizer()
    workers, tasks = os.cpu_count(), len(os.listdir(shards))

    def execute(step, pipeline, tasks):
        LocalPipelineExecutor(pipeline, tasks=tasks, workers=workers, logging_dir=f"{work}/logs/{step}").run()

    execute(1, [JsonlReader(shards), MinhashDedupSignature(f"{work}/signatures", config, language)], tasks)
    execute(2, [MinhashDedupBuckets(f"{work}/signatures", f"{work}/buckets", config=config)], BUCKETS)
    execute(3, [MinhashDedupCluster(f"{work}/buckets", f"{work}/remove", config)], 1)
    removed = JsonlWriter(f"{work}/removed", compression=None)
    kept = JsonlWriter(f"{work}/kept", compression=None)
    execute(4, [JsonlReader(shards), MinhashDedupFilter(f"{work}/remove", removed), kept], tasks)


def words_tokenizer():
    from datatrove.utils.word_tokenizers import WordTokenizer
    from grams import WORD

    class Words(WordTokenizer):
        def word_tokenize(self, text):
            return WORD.findall(text)

        def sent_tokenize(self, text):
            return [text]

        def span_tokenize(self, text):
            return [(0, len(text))]

    return Words()


def collect(work, output):
    with open(output, "w") as out:
        out.write("id\n")
        for name in sorted(glob(f"{work}/removed/*")):
            with open(name) as lines:
                out.writelines(json.loads(line)["id"] + "\n" for line in lines)


if __name__ == "__main__":
    if sys.argv[1] == "collect":
        collect(*sys.argv[2:])
    else:
        run(*sys.argv[1:])
