"""Lists what text-dedup removed: the documents of the corpus that its output lacks.

    textdedup_collect.py CORPUS.jsonl OUTPUT REMOVED.csv
"""

import json
import sys

from datasets import load_from_disk

corpus, output, removed = sys.argv[1:]
kept = set(load_from_disk(output)["id"])
with open(corpus) as lines, open(removed, "w") as out:
    out.write("id\n")
    out.writelines(name + "\n" for line in lines if (name := json.loads(line)["id"]) not in kept)
