"""Tables with truth from a copy of github.com/AI-team-UoA/pyJedAI: python3 pyjedai.py CHECKOUT OUT_DIR

writes a folder for each of its data sets, as bench/linkage reads them: tableA.csv and tableB.csv, or table.csv, and
truth.csv. Ids and values stay as they are; the separator becomes a comma, and columns that are named by addresses keep
the last part. Files that the copy does not have are left out.
"""
import csv, pathlib, re, sys

checkout, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
SETS = {
    "restaurants": ("ccer/D1", "rest1", "rest2"), "abt_buy": ("ccer/D2", "abt", "buy"),
    "amazon_google": ("ccer/D3", "amazon", "gp"), "dblp_acm": ("ccer/D4", "dblp", "acm"),
    "imdb_tmdb": ("ccer/D5", "imdb", "tmdb"), "imdb_tvdb": ("ccer/D6", "imdb", "tvdb"),
    "tmdb_tvdb": ("ccer/D7", "tmdb", "tvdb"), "walmart_amazon": ("ccer/D8", "walmart", "amazon"),
    "dblp_scholar": ("ccer/D9", "dblp", "scholar"), "dbpedia_imdb": ("ccer/D10", "imdb", "dbpedia"),
    "cddb": ("der/cddb", "cddb"), "cora_large": ("der/coraLarge", "cora"),
}


def rows(path):
    with open(path, newline="", encoding="utf-8") as f:
        first = f.readline()
        f.seek(0)
        separator = max("|#%>,", key=lambda c: bool(re.match(r'"?\w+"?' + re.escape(c), first)) * first.count(c))
        yield from csv.reader(f, delimiter=separator)


def write(path, table):
    with open(path, "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows(table)


for name, (folder, *tables) in SETS.items():
    source = checkout / "data" / folder
    if not all((source / f"{t}.csv").exists() for t in tables):
        print("left out, not there:", name)
        continue
    to = out / name
    to.mkdir(parents=True, exist_ok=True)
    for table, target in zip(tables, ["tableA", "tableB"] if len(tables) == 2 else ["table"]):
        header, *records = rows(source / f"{table}.csv")
        id = header.index("id")
        header = [re.sub(r".*[/#]", "", c) for c in header]
        write(to / f"{target}.csv", [r[id:id + 1] + r[:id] + r[id + 1:] for r in [header, *records]])
    write(to / "truth.csv", rows(source / "gt.csv"))
