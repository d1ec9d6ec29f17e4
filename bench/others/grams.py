"""What the Python drivers share: documents of a JSONL file, and their word 5-grams.

Run as a program, it makes the 5-grams and drops them: the floor under every
driver that is written in Python.

    grams.py CORPUS.jsonl
"""

import re
import sys

import orjson

WORD = re.compile(r"\w+")


def documents(path):
    """Yields (id, text) of every line."""
    with open(path, "rb") as lines:
        for line in lines:
            record = orjson.loads(line)
            yield record["id"], record["text"]


def grams(text):
    """The word 5-grams of a text, in order; a text of fewer words is one gram."""
    words = WORD.findall(text.lower())
    if len(words) < 5:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:])))


if __name__ == "__main__":
    for _, text in documents(sys.argv[1]):
        grams(text)
