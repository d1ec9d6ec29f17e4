#!/usr/bin/env python3
"""Tables of more kinds: python3 unseen.py KIND OUT_DIR SEED [once] writes table.csv, or tableA.csv and tableB.csv, and truth.csv.

With once nothing is there twice: one record of each entity is left, in one of two tables, and any link would be wrong.

KIND is one of payments, parish, companies, sensors, offers, visits, loans, airports, voters, coins, contracts. Names are
made of syllables, so that tables of two seeds share hardly a value. What is one entity stands at the head of each function.
"""

import csv
import datetime
import random
import sys
from pathlib import Path

kind, out, rng = sys.argv[1], Path(sys.argv[2]), random.Random(sys.argv[1] + sys.argv[3])
once = sys.argv[4:] == ["once"]
out.mkdir(parents=True, exist_ok=True)
BEGIN, MIDDLE = "b d f g h j k l m n p r s t v w br gr kl st tr sch".split(), "a e i o u ai au".split()
SYLLABLES = [b + m + e for b in BEGIN for m in MIDDLE for e in ("", "n", "r", "s", "l", "nd")]


def word(low=2, high=3):
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(low, high)))


def names(n):
    return [word().capitalize() for _ in range(n)]


def pick(some, skew=1.0):
    return some[int(len(some) * rng.random() ** skew)]


def maybe(chance, value, other=""):
    return value if rng.random() < chance else other


def typo(s, chance):
    if len(s) < 3 or rng.random() > chance:
        return s
    i, c = rng.randrange(len(s) - 1), rng.choice("abcdefghijklmnopqrstuvwxyz")
    return rng.choice([s[:i] + s[i + 1] + s[i] + s[i + 2:], s[:i] + s[i + 1:], s[:i] + c + s[i + 1:]])


def day(a, b):
    return datetime.date(a, 1, 1) + datetime.timedelta(days=rng.randrange((b - a) * 365))


def later(d, days):
    return d + datetime.timedelta(days=days)


def write(name, rows):
    with open(out / name, "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)


def two(head_a, a, head_b, b):
    """a and b are lists of (entity, values); the truth has a pair for each entity in both."""
    rng.shuffle(a)
    rng.shuffle(b)
    if once:
        in_a, in_b = {e for e, _ in a}, {e for e, _ in b}
        in_one = {e: rng.random() < 0.5 for e in sorted(in_a & in_b)}
        a, b = [r for r in a if in_one.get(r[0], True)], [r for r in b if not in_one.get(r[0], False)]
    in_a, in_b = {e: f"a{i}" for i, (e, _) in enumerate(a)}, {e: f"b{i}" for i, (e, _) in enumerate(b)}
    write("tableA.csv", [["id", *head_a], *([in_a[e], *v] for e, v in a)])
    write("tableB.csv", [["id", *head_b], *([in_b[e], *v] for e, v in b)])
    write("truth.csv", [["a", "b"], *([in_a[e], in_b[e]] for e in in_a if e in in_b)])


def one(head, rows):
    rng.shuffle(rows)
    if once:
        rows = list({e: (e, v) for e, v in rows}.values())
    write("table.csv", [["id", *head], *([i, *v] for i, (_, v) in enumerate(rows))])
    write("truth.csv", [["id", "entity"], *([i, e] for i, (e, _) in enumerate(rows))])


def payments():
    """One payment in two banks: another currency by the rate of the day, a fee, US dates, booked up to six days later, texts cut short."""
    payers, what = [f"{word().capitalize()} {word().capitalize()}" for _ in range(900)], ["rent", "invoice", "salary", "refund", "ticket"]
    a, b = [], []
    for e in range(8000):
        d, amount, memo = day(2021, 2022), 10 ** rng.uniform(0.5, 4), f"{pick(payers, 2)} {rng.choice(what)} {rng.randrange(1, 400)}"
        if rng.random() < 0.8:
            a.append((e, [memo, d.isoformat(), f"{amount:.2f}"]))
        if rng.random() < 0.8:
            received = amount * 7.46 * rng.gauss(1, 0.004) - rng.choice((0, 0, 2.5, 15))
            booked = later(d, rng.choice((0, 0, 1, 1, 2, 3, 6))).strftime("%m/%d/%Y")
            b.append((e, [memo.upper()[: rng.randrange(8, 18)], booked, f"{received:.2f}"]))
    two(["text", "day", "eur"], a, ["details", "booked", "dkk"], b)


def parish():
    """One person, baptised and married: few surnames, two spellings, years off by a few, a village, the father's name."""
    last, first, places = names(60), names(40), names(14)
    latin = {n: n[:-1] + "us" for n in first}

    def spelt(n):
        return latin[n] if rng.random() < 0.3 else typo(n, 0.08)

    a, b = [], []
    for e in range(5000):
        surname, name, father, year = pick(last, 2), pick(first, 2), pick(first, 2), rng.randrange(1700, 1800)
        place, house = pick(places, 1.5), rng.randrange(1, 90)
        if rng.random() < 0.75:
            a.append((e, [spelt(name), typo(surname, 0.15), spelt(father), place, house, year]))
        if rng.random() < 0.6:
            about = year + rng.choice((0, 0, 0, 1, -1, 2, -3))
            row = [spelt(name), typo(surname, 0.15), maybe(0.7, spelt(father)), maybe(0.8, place, pick(places)), maybe(0.6, house), about]
            b.append((e, row))
    head = ["name", "surname", "father", "village", "house"]
    two([*head, "born"], a, [*head, "born_about"], b)


def companies():
    """One company in four registers, each of which has it once: members of a group share words, address and telephone."""
    trades = ["Bau", "Holding", "Logistik", "Immobilien", "Service", "Energie", "Handel", "Technik"]
    forms, towns, streets = ["GmbH", "AG", "Ltd", "KG", "S.A."], names(80), names(200)

    def home():
        return [f"{pick(streets)} {rng.randrange(1, 200)}", pick(towns, 2)]

    rows, e = [], 0
    for _ in range(1800):
        group, at_home, phone = " ".join(names(rng.choice((1, 2)))), home(), f"0{rng.randrange(10**8, 10**9)}"
        for trade in rng.sample(trades, rng.choices((1, 2, 3, 5), (55, 25, 12, 8))[0]):
            e += 1
            form, since, vat, at = rng.choice(forms), day(1950, 2020), f"DE{rng.randrange(10**8, 10**9)}", maybe(0.8, at_home, home())
            for register in ("north", "south", "tax", "trade"):
                if rng.random() < 0.5:
                    name = f"{typo(group, 0.1)} {maybe(0.9, trade, trade[:4] + '.')} {maybe(0.8, form)}".strip()
                    founded = since.strftime("%d.%m.%Y" if register == "tax" else "%Y-%m-%d")
                    contact = [maybe(0.5, phone), maybe(0.85, founded), maybe(0.35, vat)]
                    rows.append((e, [register, name, typo(at[0], 0.1), at[1], *contact]))
    one(["register", "company", "street", "town", "phone", "founded", "vat"], rows)


def sensors():
    """One sensor in an inventory and in a log: few models, serial numbers mistyped or missing, places within some 50 m."""
    models = [(m, f"{rng.choice('ABCDEF')}{rng.randrange(10, 99)}") for m in names(6) for _ in range(4)]

    def near(v):
        return f"{v + rng.gauss(0, 0.0002):.4f}"

    a, b = [], []
    for e in range(4000):
        (maker, model), y, x = pick(models, 2), rng.uniform(47, 49), rng.uniform(8, 11)
        serial, since = f"{rng.randrange(10**7):07d}", day(2010, 2024)
        if rng.random() < 0.85:
            a.append((e, [maker, model, maybe(0.8, serial), near(y), near(x), since]))
        if rng.random() < 0.7:
            seen = later(since, rng.randrange(9)).strftime("%d/%m/%Y")
            b.append((e, [maybe(0.9, maker.upper()), model, maybe(0.5, maybe(0.5, "SN") + typo(serial, 0.1)), near(y), near(x), seen]))
    head = ["maker", "model", "serial", "lat", "lon"]
    two([*head, "installed"], a, [*head, "first_seen"], b)


def offers():
    """One article in two shops: packs, colours and parts of numbers tell the articles of a line apart."""
    brands, things, colours = names(60), names(150), ["red", "blue", "black", "white", "green"]
    a, b, e = [], [], 0
    for _ in range(900):
        brand, thing, price = pick(brands, 2), f"{pick(things)} {pick(things)}", 10 ** rng.uniform(0.5, 2.5)
        for size in rng.sample((1, 2, 5, 10, 25, 50), rng.randint(1, 3)):
            for colour in rng.sample(colours, rng.randint(1, 3)):
                e += 1
                part, cost = f"{brand[:2].upper()}{rng.randrange(1000, 9999)}-{rng.randrange(100)}", price * size**0.8
                if rng.random() < 0.7:
                    a.append((e, [f"{brand} {thing} {colour} {size} pcs", brand, f"{cost:.2f}"]))
                if rng.random() < 0.7:
                    pack = maybe(0.5, f"{size}x", f"pack of {size}")
                    words = [maybe(0.7, brand.upper()), typo(thing, 0.15), maybe(0.6, part), pack, colour]
                    b.append((e, [" ".join(w for w in words if w), maybe(0.5, brand), f"{cost * rng.uniform(0.85, 1.15):.2f}"]))
    two(["title", "brand", "price"], a, ["name", "manufacturer", "price"], b)


def visits():
    """One patient with one to nine visits in one table: short names, moves, telephones, two ways to write dates."""
    last, first, streets, rows = names(1500), names(300), names(400), []
    for e in range(2500):
        surname, name, born, phone = pick(last, 1.5), pick(first, 1.5), day(1930, 2015), f"{rng.randrange(10**8):08d}"
        home = f"{pick(streets)} {rng.randrange(1, 120)}"
        for _ in range(min(9, 1 + int(rng.expovariate(0.6)))):
            home = maybe(0.9, home, f"{pick(streets)} {rng.randrange(1, 120)}")
            written = born.strftime(rng.choice(("%Y-%m-%d", "%d.%m.%Y")))
            person = [maybe(0.9, typo(name, 0.08), name[:3]), typo(surname, 0.08), maybe(0.9, written)]
            rows.append((e, [*person, typo(home, 0.1), maybe(0.6, phone), day(2020, 2025), rng.choice(("flu", "check", "tooth", "eye"))]))
    one(["first", "last", "born", "home", "phone", "seen", "reason"], rows)


def loans():
    """One borrower in one table without a source: couples and siblings share last name, home and telephone."""
    last, first, streets, rows, e = names(900), names(250), names(300), [], 0
    for _ in range(2200):
        surname, home, phone = pick(last, 1.5), f"{rng.randrange(1, 150)} {pick(streets)}", f"{rng.randrange(10**8):08d}"
        for _ in range(rng.choice((1, 2, 2, 3))):
            e += 1
            name, born, mail = pick(first, 1.5), day(1940, 2000), f"{word()}@{rng.choice(('post', 'mail', 'net'))}.org"
            for _ in range(rng.choices((1, 2, 3), (60, 30, 10))[0]):
                person = [typo(name, 0.1), typo(surname, 0.08), maybe(0.9, born)]
                rows.append((e, [*person, typo(home, 0.1), maybe(0.7, phone), maybe(0.6, typo(mail, 0.1)), rng.randrange(1, 60) * 500]))
    one(["given", "family", "birth", "address", "telephone", "email", "amount"], rows)


def airports():
    """One airport in up to five registers, each of which has it once: other forms of names, coordinates some hundred metres apart."""
    towns, rows = [(word().capitalize(), rng.uniform(-60, 70), rng.uniform(-180, 180)) for _ in range(900)], []
    for e in range(2500):
        town, lat, lon = rng.choice(towns)
        lat, lon, height = lat + rng.gauss(0, 0.15), lon + rng.gauss(0, 0.15), int(abs(rng.gauss(300, 400)))
        name = rng.choice((town, word().capitalize(), f"{town} {word().capitalize()}"))
        suffix = rng.choice(("Airport", "Regional Airport", "Airfield", "Heliport", "International Airport"))
        code = "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(4))
        for register in "ABCDE":
            if rng.random() < 0.55:
                short = suffix.replace("International", "Intl").replace("Airport", "Arpt")
                called = typo(f"{name} {rng.choice((suffix, suffix, short, ''))}".strip(), 0.1)
                place = [f"{lat + rng.gauss(0, 0.003):.4f}", f"{lon + rng.gauss(0, 0.003):.4f}"]
                feet = maybe(0.7, height + rng.choice((0, 0, 0, 3, -5)))
                rows.append((e, [register, called, maybe(0.8, town), *place, feet, maybe(0.3, code)]))
    one(["register", "name", "municipality", "latitude", "longitude", "elevation_ft", "icao"], rows)


def voters():
    """One voter in the lists of two years: homes are shared, some move, some women take another name."""
    last, first, streets, a, b, e = names(900), names(350), names(300), [], [], 0
    for _ in range(2500):
        surname, home, code = rng.choice(last), f"{rng.randrange(1, 200)} {rng.choice(streets)} St", rng.randrange(20000, 20060)
        for _ in range(rng.choice((1, 2, 2, 3, 4))):
            e += 1
            name, middle, sex, year = rng.choice(first), rng.choice("ABCDEFGHJKLMRST"), rng.choice("MF"), rng.randrange(1925, 2004)
            married = rng.choice(last) if sex == "F" and rng.random() < 0.05 else surname
            moved = maybe(0.88, home, f"{rng.randrange(1, 200)} {rng.choice(streets)} Street")
            if rng.random() < 0.8:
                a.append((e, [typo(name, 0.03), maybe(0.7, middle), typo(surname, 0.03), sex, year, home, code]))
            if rng.random() < 0.8:
                called = maybe(0.95, typo(name, 0.03), name[0])
                b.append((e, [called, maybe(0.7, middle), typo(married, 0.03), sex, year + (rng.random() < 0.02), moved, code]))
    head = ["first", "mi", "last", "sex", "birth_year", "address", "zip"]
    two(head, a, head, b)


def coins():
    """One coin in two catalogues, which write it in other ways; versions differ by year and mint mark."""
    a, b, e, metals = [], [], 0, {"silver": "AR", "gold": "AV", "copper": "AE", "nickel": "Ni"}
    for _ in range(700):
        country, ruler, metal = word(1, 2).capitalize(), f"{word().capitalize()} {rng.choice(('I', 'II', 'III'))}", rng.choice(list(metals))
        value, first = rng.choice(("1 cent", "5 cents", "10 cents", "1 crown", "2 crowns", "1/2 crown")), rng.randrange(1700, 1950)
        for year in range(first, first + rng.randint(1, 6)):
            e += 1
            mint, weight = rng.choice(("A", "B", "D", "")), rng.uniform(2, 30)
            if rng.random() < 0.75:
                a.append((e, [f"{value} {ruler} {year}{mint}", country, metal, f"{weight:.2f}"]))
            if rng.random() < 0.75:
                b.append((e, [f"{country}: {value}, {ruler}, {year} {mint}".strip(), metals[metal], f"{weight + rng.gauss(0, 0.03):.1f}"]))
    two(["title", "country", "metal", "weight_g"], a, ["title", "metal", "weight_g"], b)


def contracts():
    """One contract in two registers: firms by initials now and then, amounts rounded, days up to two weeks later, US dates."""
    what, things = ("Supply of", "Maintenance of", "Renovation of"), ("school", "road", "bridge", "office", "server", "hospital")
    firms = [f"{word().capitalize()} {word().capitalize()} {rng.choice(('Ltd', 'GmbH', 'Inc', 'SA'))}" for _ in range(300)]
    a, b = [], []
    for e in range(3500):
        firm, amount, signed = rng.choice(firms), 10 ** rng.uniform(3, 6.5), day(2015, 2023)
        about = f"{rng.choice(what)} {rng.choice(things)} {word().capitalize()}"
        if rng.random() < 0.7:
            a.append((e, [firm, f"{amount:.2f}", signed.strftime("%d.%m.%Y"), about]))
        if rng.random() < 0.7:
            one, other, form = firm.split()
            called = maybe(0.85, f"{firm.upper()}.", f"{one[0]}{other[0]} {form}")
            of = maybe(0.8, typo(about, 0.1), about.split(" of ")[1])
            b.append((e, [called, f"{amount:,.0f}", later(signed, rng.choice((0, 0, 1, 2, 7, 14))).strftime("%m/%d/%Y"), of]))
    head = ["contractor", "amount", "signed", "object"]
    two(head, a, head, b)


KINDS = (payments, parish, companies, sensors, offers, visits, loans, airports, voters, coins, contracts)
{f.__name__: f for f in KINDS}[kind]()
