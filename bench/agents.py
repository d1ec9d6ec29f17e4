"""How long agents wait: checks of alike mcp by the Python SDK of the protocol (pip install 'mcp>=2'), transport included.

    python3 bench/agents.py ALIKE NOTES.jsonl

Asks for 200 texts of NOTES as they are, with every word new, and with the second half new. `--made N` writes N notes that
begin with the same forty words to NOTES first.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def make(path: str, count: int) -> None:
    """Write notes of 60 to 200 words behind an opening that all share."""
    rng = random.Random(5)
    words = ["".join(rng.choice("bdfgklmnprst") + rng.choice("aeiou") for _ in range(rng.randint(1, 4))) for _ in range(20000)]
    opening = [rng.choice(words) for _ in range(40)]
    with open(path, "w") as to:
        for i in range(count):
            text = " ".join(opening + [rng.choice(words) for _ in range(rng.randint(60, 200))])
            to.write(json.dumps({"id": i, "text": text}) + "\n")


def reversed_words(text: str) -> str:
    """Return a text of as many words, none of which is in use."""
    return " ".join(word[::-1] for word in text.split())


async def measure(alike: str, path: str) -> None:
    """Print the median and the 99th of 100 checks of each kind, in ms."""
    with open(path) as lines:
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(200), strict=False)]
    kinds = {
        "as it is": lambda text: text,
        "new": reversed_words,
        "half of it new": lambda text: text[: len(text) // 2] + reversed_words(text[len(text) // 2 :]),
    }
    server = StdioServerParameters(command=alike, args=["mcp", "--among", path])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        for name, change in kinds.items():
            took = []
            for text in texts:
                start = time.perf_counter()
                await client.call_tool("check", {"text": change(text)})
                took.append(1000 * (time.perf_counter() - start))
            took.sort()
            print(f"{name}: median {took[len(took) // 2]:.1f} ms, p99 {took[len(took) * 99 // 100]:.1f} ms")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if "--made" in arguments:
        at = arguments.index("--made")
        make(arguments[1], int(arguments[at + 1]))
    asyncio.run(measure(arguments[0], arguments[1]))
