"""Joins tables by programs that alike's users would otherwise take.

  joins.py PROGRAM FOLDER OUT.csv

FOLDER has tableA.csv and tableB.csv, or table.csv; OUT gets the pairs with their scores. Columns of the tables
are known here: each program is told what its documentation asks for.
"""

import csv
import itertools
import os
import sys


def read(folder):
    import pandas as pd

    names = ["table.csv"] if os.path.exists(f"{folder}/table.csv") else ["tableA.csv", "tableB.csv"]
    tables = [pd.read_csv(f"{folder}/{n}", dtype=str, keep_default_na=False) for n in names]
    for t in tables:
        t["all_values"] = t[list(t.columns[1:])].agg(" ".join, axis=1).str.lower().astype(object)
    return tables


def write(out, pairs):
    with open(out, "w", newline="") as f:
        csv.writer(f).writerows(itertools.chain([("a", "b", "score")], pairs))


def stringsimjoin(folder, out):
    """Jaccard similarity of the 3-grams of all values together, at least 0.2."""
    import py_stringmatching as sm
    import py_stringsimjoin as ssj

    tables = read(folder)
    left, right = tables[0], tables[-1]
    key_l, key_r = left.columns[0], right.columns[0]
    grams = sm.QgramTokenizer(qval=3, return_set=True)
    found = ssj.jaccard_join(left, right, key_l, key_r, "all_values", "all_values", grams, 0.2,
                             l_out_attrs=[], r_out_attrs=[], n_jobs=2, show_progress=False)
    rows = zip(found[f"l_{key_l}"], found[f"r_{key_r}"], found["_sim_score"])
    write(out, (r for r in rows if len(tables) == 2 or r[0] < r[1]))


def recordlinkage(folder, out):
    """Blocks by words of the most telling column, similarities of all columns, and its ECM classifier, which
    takes no labels. The score is the probability."""
    import pandas as pd
    import recordlinkage as rl

    tables = [t.set_index(t.columns[0]).drop(columns="all_values") for t in read(folder)]
    columns = list(tables[0].columns)
    if "surname" in columns:  # as its documentation links FEBRL's persons
        index = rl.Index()
        for c in ("given_name", "surname", "date_of_birth", "postcode", "soc_sec_id"):
            index.block(c)
        pairs = index.index(*tables)
    else:  # pairs that share a word of the first column which at most 50 records have
        words = [pd.DataFrame({"id": t.index, "word": t[columns[0]].str.lower().str.split()}).explode("word") for t in tables]
        words = [w[w.groupby("word")["word"].transform("size") <= 50] for w in words]
        both = words[0].merge(words[-1], on="word")
        pairs = pd.MultiIndex.from_frame(both[["id_x", "id_y"]].drop_duplicates())
    compare = rl.Compare(n_jobs=2)
    for c in columns:
        compare.string(c, c, method="jarowinkler", threshold=0.85, label=c)
    features = compare.compute(pairs, *tables)
    features = features.loc[:, features.nunique() > 1]
    model = rl.ECMClassifier()
    model.fit(features)
    p = model.prob(features)
    write(out, ((a, b, s) for (a, b), s in p[p > 0.01].items()))


def minhashlsh(folder, out):
    """Spark's MLlib: words of all values as a binary vector, MinHashLSH with 20 hash tables, approxSimilarityJoin up to
    a distance of 0.8."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, RegexTokenizer
    from pyspark.sql import SparkSession

    tables = read(folder)
    spark = (SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
             .config("spark.sql.shuffle.partitions", "8").config("spark.ui.enabled", "false").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    cut = RegexTokenizer(inputCol="all_values", outputCol="words", pattern="\\W+")
    vectors = HashingTF(inputCol="words", outputCol="features", binary=True, numFeatures=1 << 20)
    frames = []
    for t in tables:
        rows = [(i, v) for i, v in zip(t.iloc[:, 0], t["all_values"]) if v.strip()]
        frames.append(vectors.transform(cut.transform(spark.createDataFrame(rows, ["id", "all_values"]))).select("id", "features").cache())
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=20, seed=1).fit(frames[0])
    found = model.approxSimilarityJoin(frames[0], frames[-1], 0.8, distCol="distance")
    found = found.selectExpr("datasetA.id a", "datasetB.id b", "1 - distance score")
    if len(tables) == 1:
        found = found.where("a < b")
    write(out, (tuple(r) for r in found.toLocalIterator()))
    spark.stop()


def splink(folder, out):
    """Persons only: rules, comparisons and training that its documentation recommends, made by hand for these columns."""
    import logging

    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    logging.getLogger("splink").setLevel(logging.ERROR)
    tables = [t.drop(columns="all_values").replace("", None) for t in read(folder)]
    blocks = ["soc_sec_id", "date_of_birth given_name", "date_of_birth surname", "date_of_birth postcode", "given_name surname state",
              "given_name surname street_number", "given_name address_1 street_number", "surname postcode street_number", "surname address_1 suburb"]
    settings = SettingsCreator(
        link_type="dedupe_only" if len(tables) == 1 else "link_only",
        unique_id_column_name="rec_id",
        comparisons=[
            cl.ForenameSurnameComparison("given_name", "surname"),
            cl.DateOfBirthComparison("date_of_birth", input_is_string=True, datetime_format="%Y%m%d"),
            cl.DamerauLevenshteinAtThresholds("soc_sec_id", [1, 2]),
            cl.LevenshteinAtThresholds("street_number", [1]),
            cl.JaroWinklerAtThresholds("address_1", [0.9, 0.8]),
            cl.JaroWinklerAtThresholds("address_2", [0.9]),
            cl.JaroWinklerAtThresholds("suburb", [0.9, 0.8]),
            cl.DamerauLevenshteinAtThresholds("postcode", [1, 2]),
            cl.ExactMatch("state"),
        ],
        blocking_rules_to_generate_predictions=[block_on(*b.split()) for b in blocks],
        retain_intermediate_calculation_columns=False,
        retain_matching_columns=False,
    )
    db = DuckDBAPI()
    registered = [db.register(t) for t in tables]
    linker = Linker(registered if len(tables) == 2 else registered[0], settings)
    train = linker.training
    sure = [block_on("soc_sec_id", "date_of_birth"), block_on("given_name", "surname", "date_of_birth")]
    train.estimate_probability_two_random_records_match(sure, recall=0.7)
    train.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    for rule in (block_on("date_of_birth"), block_on("soc_sec_id"), block_on("given_name", "surname")):
        train.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.5).as_pandas_dataframe()
    write(out, zip(found["rec_id_l"], found["rec_id_r"], found["match_weight"]))


if __name__ == "__main__":
    program, folder, out = sys.argv[1:]
    {"splink": splink, "stringsimjoin": stringsimjoin, "recordlinkage": recordlinkage, "minhashlsh": minhashlsh}[program](folder, out)
