"""Two tables of synthetic persons: python3 twopersons.py PERSONS.PY LEFT RIGHT COPIES OUT_DIR SEED

writes tableA.csv of LEFT persons, tableB.csv of RIGHT ones, of which COPIES are persons of tableA.csv with errors, and
truth.csv. Persons and errors are those of PERSONS.PY. It holds tableB.csv only.
"""
import csv, random, runpy, sys, tempfile

script, left, right, copies, out, seed = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5], sys.argv[6]
with tempfile.TemporaryDirectory() as scratch:
    sys.argv = [script, "5", scratch, seed]
    made = runpy.run_path(script)
person, corrupt = made["person"], made["corrupt"]
header = "id,given_name,surname,street_number,address_1,address_2,suburb,postcode,state,date_of_birth,soc_sec_id".split(",")
rng = random.Random(seed)
copied = set(rng.sample(range(left), copies))
b = [(None, person()) for _ in range(right - copies)]
with open(out + "/tableA.csv", "w", newline="") as f:
    w = csv.writer(f)
    w.writerow(header)
    for i in range(left):
        p = person()
        w.writerow([f"a{i}"] + p)
        if i in copied:
            b.append((i, corrupt(p)))
rng.shuffle(b)
with open(out + "/tableB.csv", "w", newline="") as f, open(out + "/truth.csv", "w", newline="") as g:
    w, truth = csv.writer(f), csv.writer(g)
    w.writerow(header)
    truth.writerow(["id1", "id2"])
    for i, (of, p) in enumerate(b):
        w.writerow([f"b{i}"] + p)
        if of is not None:
            truth.writerow([f"a{of}", f"b{i}"])
