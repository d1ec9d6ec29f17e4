#!/usr/bin/env python3
"""Tables of twenty kinds in six shapes: python3 shapes.py OUT_DIR SEED [THINGS] writes OUT_DIR/KIND-SHAPE/.

one      left.csv and right.csv, a third of the things in both
dups     table.csv, two things of five there two to four times
many     left.csv and right.csv, where a thing is up to three times in the right one
alone    table.csv without a copy
halves   left.csv and right.csv that share nothing: things by turns, so that brothers are in both
coin     the same by a coin

truth.csv has the pairs a,b. Things come in families, such as the flats of a house or the tracks of an album, and some of
what belongs to a thing changes with time (moves). Names are made of syllables. shapes_score.py scores a
program on them.
"""

import csv
import datetime
import random
import sys
from pathlib import Path

OUT, SEED, THINGS = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1000
R = random.Random(SEED)
BEGIN, END = "b d f g h j k l m n p r s t v w br kl st tr sch th".split(), ("", "n", "r", "s", "l", "nd", "ck")
SYLLABLES = [b + v + e for b in BEGIN for v in "a e i o u ai ei".split() for e in END]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def word(low=2, high=3):
    return "".join(R.choice(SYLLABLES) for _ in range(R.randint(low, high)))


def names(n):
    return [word().capitalize() for _ in range(n)]


def pick(some, skew=2.0):
    return some[int(len(some) * R.random() ** skew)]


def title(low, high):
    return " ".join(pick(WORDS, 1.7) for _ in range(R.randint(low, high)))


def digits(n):
    return "".join(R.choice("0123456789") for _ in range(n))


def day(a, b):
    return datetime.date(a, 1, 1) + datetime.timedelta(days=R.randrange(int((b - a) * 365.25)))


def after(d, days):
    return d + datetime.timedelta(days=days)


def typo(s):
    if len(s) < 3:
        return s
    i, c = R.randrange(len(s) - 1), R.choice(LETTERS)
    return R.choice([s[:i] + s[i + 1] + s[i] + s[i + 2:], s[:i] + s[i + 1:], s[:i] + c + s[i + 1:], s[:i] + c + s[i:]])


# How a value is written: by the style of a source, and with errors of some rate.
def text(v, style, rate):
    t = v.split()
    if R.random() < rate and len(t) > 2:
        t.pop(R.randrange(len(t)))
    if R.random() < rate and len(t) > 1:
        i = R.randrange(len(t) - 1)
        t[i], t[i + 1] = t[i + 1], t[i]
    if R.random() < rate:
        t.insert(R.randrange(len(t) + 1), pick(WORDS))
    s = " ".join(typo(x) if R.random() < rate / 3 else x for x in t)
    return s.title() if style else s


def name(v, style, rate):
    s = typo(v) if R.random() < rate else v
    return s[:1] + "." if R.random() < rate / 3 else s


def code(v, style, rate):
    s = typo(v) if R.random() < rate / 3 else v
    return s.replace("-", "") if style else s


def date(v, style, rate):
    if R.random() < rate / 3:
        v = after(v, R.choice([-1, 1, 2, 10, 30, 365]))
    if R.random() < rate / 6 and v.day <= 12:
        v = v.replace(month=v.day, day=v.month)
    return v.strftime("%d/%m/%Y" if style else "%Y-%m-%d")


def number(v, style, rate):
    return "%g" % (round(v * R.uniform(0.97, 1.03)) if R.random() < rate else v)


def money(v, style, rate):
    return ("%.0f" if style else "%.2f") % (v * R.uniform(0.9, 1.1) if R.random() < rate / 2 else v)


def phone(v, style, rate):
    s = v if R.random() > rate / 3 else v[:-1] + R.choice("0123456789")
    return f"0{s[:3]}/{s[3:]}" if style else f"+49 {s[:3]} {s[3:]}"


def word_of_few(v, style, rate):
    return v if R.random() > rate / 4 else ""


def place(v, style, rate):
    return "%.*f" % (4 if style else 5, v + R.gauss(0, 0.0005))


WRITTEN = {"t": text, "n": name, "c": code, "d": date, "i": number, "m": money, "p": phone, "k": word_of_few, "g": place}
KINDS = {}


def kind(columns, errors=0.15, missing=0.08, moves=()):
    """Registers a generator of things. columns are name:how, where how is a key of WRITTEN."""

    def register(f):
        KINDS[f.__name__] = (f, [c.split(":") for c in columns.split()], errors, missing, moves)
        return f

    return register


def family(n, sizes):
    """Yields the sizes of families, n things in all."""
    while n > 0:
        size = min(n, R.choice(sizes))
        n -= size
        yield size


@kind("first:n last:n born:d sex:k insurance:c doctor:n city:k", moves=("city", "doctor"))
def patients(n):
    doctors = names(40)
    for size in family(n, [1, 1, 2, 3, 4]):
        last, city = pick(LAST), pick(CITY)
        for _ in range(size):
            yield dict(first=pick(FIRST), last=last, born=day(1930, 2020), sex=R.choice("mf"), insurance="A" + digits(9), doctor=R.choice(doctors), city=city)


@kind("title:t company:n city:k salary:m posted:d contract:k", moves=("posted",))
def jobs(n):
    roles = [title(1, 3) for _ in range(80)]
    for _ in range(n):
        role = pick(roles) + " " + R.choice(["", "senior", "junior", "(m/f/d)", title(1, 1)])
        yield dict(title=role, company=pick(FIRM), city=pick(CITY), salary=R.randrange(30, 120) * 1000, posted=day(2024, 2025), contract=R.choice(["full", "part", "temp"]))


@kind("address:t city:k area:i rooms:i price:m agent:n built:i", moves=("price", "agent"))
def flats(n):
    for size in family(n, [1, 1, 1, 2, 4]):
        house, city, built = f"{pick(STREET)}strasse {R.randrange(1, 120)}", pick(CITY), R.randrange(1890, 2024)
        for _ in range(size):
            area = R.randrange(30, 180)
            yield dict(address=house, city=city, area=area, rooms=max(1, area // 28), price=area * R.randrange(2500, 8000), agent=pick(FIRM), built=built)


@kind("name:t ingredients:t minutes:i portions:i author:n", errors=0.2)
def recipes(n):
    base, ingredients = [title(1, 2) for _ in range(150)], names(120)
    for _ in range(n):
        what = " ".join(pick(ingredients) for _ in range(R.randint(4, 10)))
        dish = pick(base) + " " + R.choice(["", "soup", "cake", "salad", title(1, 1)])
        yield dict(name=dish, ingredients=what, minutes=R.choice([10, 15, 20, 30, 45, 60, 90]), portions=R.choice([2, 4, 4, 6]), author=pick(FIRST))


@kind("artist:n title:t album:t seconds:i year:i track:i", moves=("album", "track"))
def tracks(n):
    bands = [title(1, 2) for _ in range(150)]
    for size in family(n, range(3, 13)):
        band, album, year = pick(bands), title(1, 3), R.randrange(1965, 2024)
        for t in range(size):
            yield dict(artist=band, title=title(1, 4), album=album, seconds=R.randrange(120, 420), year=year, track=t + 1)


@kind("authors:t title:t venue:k year:i pages:c", errors=0.12)
def citations(n):
    venues = [title(2, 4) for _ in range(30)]
    for size in family(n, [1, 1, 2, 3]):
        team = ", ".join(pick(FIRST)[0] + ". " + pick(LAST) for _ in range(R.randint(1, 4)))
        topic = title(2, 3)
        for _ in range(size):
            p = R.randrange(1, 900)
            yield dict(authors=team, title=topic + " " + title(3, 6), venue=pick(venues), year=R.randrange(1985, 2024), pages=f"{p}-{p + R.randrange(5, 25)}")


@kind("name:t address:t city:k phone:p stars:i lat:g lon:g")
def hotels(n):
    chains, cities = names(15), [(c, R.uniform(47, 54), R.uniform(6, 14)) for c in CITY]
    for _ in range(n):
        city, lat, lon = pick(cities)
        hotel = pick(chains) + " " + city if R.random() < 0.4 else "hotel " + title(1, 2)
        yield dict(name=hotel, address=f"{pick(STREET)} {R.randrange(1, 200)}", city=city, phone=digits(9), stars=R.choice([2, 3, 3, 4, 4, 5]), lat=lat + R.gauss(0, 0.05), lon=lon + R.gauss(0, 0.05))


@kind("make:k model:k plate:c vin:c colour:k year:i km:i owner:n", missing=0.15, moves=("km", "owner", "plate"))
def vehicles(n):
    makes = [(m, [word(1, 2) for _ in range(6)]) for m in names(15)]
    for _ in range(n):
        make, models = pick(makes)
        yield dict(make=make, model=pick(models), plate=R.choice("ABCDEFG") + "-" + digits(4), vin=make[:2].upper() + digits(8), colour=R.choice("black white grey red blue".split()), year=R.randrange(2000, 2025), km=R.randrange(1000, 250000), owner=pick(LAST))


@kind("policy:c holder:n incident:d reported:d amount:m text:t", moves=("amount", "reported"))
def claims(n):
    for size in family(n, [1, 1, 1, 2, 3]):
        policy, holder = "P-" + digits(7), pick(FIRST) + " " + pick(LAST)
        for _ in range(size):
            d = day(2018, 2024)
            yield dict(policy=policy, holder=holder, incident=d, reported=after(d, R.randrange(1, 30)), amount=R.lognormvariate(7, 1), text=title(3, 8))


@kind("species:k lat:g lon:g seen:d observer:n count:i", moves=("count",), errors=0.1)
def sightings(n):
    species, observers = [title(2, 2) for _ in range(80)], [pick(FIRST) + " " + pick(LAST) for _ in range(60)]
    for size in family(n, [1, 2, 4]):
        lat, lon, seen, by = R.uniform(47, 54), R.uniform(6, 14), day(2020, 2024), pick(observers)
        for _ in range(size):
            yield dict(species=pick(species), lat=lat + R.gauss(0, 0.02), lon=lon + R.gauss(0, 0.02), seen=seen, observer=by, count=R.choice([1, 1, 2, 3, 5, 10]))


@kind("number:c description:t maker:k price:m weight:i", missing=0.12)
def parts(n):
    for size in family(n, [1, 2, 4, 6]):
        maker, what, series = pick(FIRM), title(2, 4), R.choice("ABCDEFGH") + digits(3)
        for _ in range(size):
            yield dict(number=f"{series}-{R.randrange(10, 99)}", description=f"{what} {R.choice([2, 4, 5, 6, 8, 10, 12, 16])} mm", maker=maker, price=R.lognormvariate(3, 1), weight=R.randrange(5, 3000))


@kind("student:n matric:c course:k exam:d grade:k email:c", missing=0.15, moves=("exam",))
def exams(n):
    courses = [title(1, 3) for _ in range(25)]
    for size in family(n, [1, 2, 3, 5]):
        first, last, matric = pick(FIRST), pick(LAST), digits(7)
        email = f"{first}.{last}@{word()}.edu".lower()
        for course in R.sample(courses, size):
            yield dict(student=first + " " + last, matric=matric, course=course, exam=day(2021, 2024), grade=R.choice("1.0 1.3 1.7 2.0 2.3 2.7 3.0".split()), email=email)


@kind("title:t venue:k start:d price:m organiser:n", moves=("price",))
def events(n):
    venues, series = [title(1, 2) for _ in range(50)], [title(2, 4) for _ in range(60)]
    for _ in range(n):
        yield dict(title=pick(series) if R.random() < 0.5 else title(2, 5), venue=pick(venues), start=day(2024, 2026), price=R.choice([5, 10, 12, 15, 20, 25, 40]), organiser=pick(FIRM))


@kind("name:n email:c phone:p company:n title:k", missing=0.25, moves=("company", "title"))
def contacts(n):
    for _ in range(n):
        first, last, firm = pick(FIRST), pick(LAST), pick(FIRM)
        yield dict(name=first + " " + last, email=f"{first[0]}.{last}@{firm}.com".lower(), phone=digits(9), company=firm, title=R.choice("CEO CTO buyer engineer sales clerk".split()))


@kind("number:c supplier:n date:d net:m gross:m currency:k", errors=0.1)
def invoices(n):
    for size in family(n, range(1, 9)):
        supplier, no, net, monthly, d = pick(FIRM), R.randrange(1000, 9000), R.lognormvariate(6, 1), R.random() < 0.4, day(2023, 2024)
        for _ in range(size):
            no, net = no + R.randrange(1, 4), net if monthly else R.lognormvariate(6, 1)
            d = after(d, 30 if monthly else R.randrange(1, 60))
            yield dict(number=f"RE-{no}", supplier=supplier, date=d, net=net, gross=net * 1.19, currency="EUR")


@kind("ship:n imo:c flag:k length:i built:i port:k", missing=0.15, moves=("port", "flag"))
def ships(n):
    ship = names(400)
    for _ in range(n):
        yield dict(ship=pick(ship, 1) + R.choice(["", "", " II", " Star"]), imo=digits(7), flag=pick(CITY, 3)[:2].upper(), length=R.randrange(60, 400), built=R.randrange(1970, 2024), port=pick(CITY))


@kind("inventory:c title:t artist:n made:i material:k height:i width:i", missing=0.12)
def museum(n):
    for size in family(n, [1, 1, 1, 3, 6]):
        artist, made, no, what = pick(LAST), R.randrange(1600, 1950), f"{R.randrange(1900, 2020)}.{R.randrange(1, 400)}", title(1, 3)
        for k in range(size):
            yield dict(inventory=f"{no}.{k + 1}", title=f"{what} {k + 1}" if k else what, artist=artist, made=made, material=R.choice("oil ink bronze paper wood".split()), height=R.randrange(10, 200), width=R.randrange(10, 200))


@kind("street:n house:c city:k postcode:c lat:g lon:g", errors=0.12)
def addresses(n):
    cities = [(c, str(R.randrange(10000, 99999)), R.uniform(47, 54), R.uniform(6, 14)) for c in CITY]
    for size in family(n, [1, 3, 6]):
        city, postcode, lat, lon = pick(cities, 1)
        street = pick(STREET, 1) + "weg"
        for house in R.sample(range(1, 80), size):
            yield dict(street=street, house=str(house), city=city, postcode=postcode, lat=lat + R.gauss(0, 0.02), lon=lon + R.gauss(0, 0.02))


@kind("case:c plaintiff:n defendant:n court:k filed:d subject:k", missing=0.1, moves=("filed",))
def cases(n):
    courts, subjects = [title(1, 2) for _ in range(25)], [title(1, 2) for _ in range(15)]
    for size in family(n, [1, 1, 3, 8]):
        defendant = pick(FIRM)
        for _ in range(size):
            yield dict(case=f"{R.randrange(1, 40)} C {R.randrange(1, 999)}/{R.randrange(10, 25)}", plaintiff=pick(FIRST) + " " + pick(LAST), defendant=defendant, court=pick(courts), filed=day(2010, 2024), subject=pick(subjects))


@kind("user:c name:n joined:d last_seen:d ip:c country:k", missing=0.1, moves=("last_seen", "ip"))
def accounts(n):
    for _ in range(n):
        first, last, joined = pick(FIRST), pick(LAST), day(2015, 2022)
        user = (first[:R.randint(1, 4)] + last + R.choice(["", digits(2)])).lower()
        yield dict(user=user, name=first + " " + last, joined=joined, last_seen=after(joined, R.randrange(1, 900)), ip=".".join(str(R.randrange(256)) for _ in range(4)), country=pick(CITY, 3)[:2].upper())


def row(thing, others, spec, style, first):
    """Returns a record of a thing: the first one has a quarter of the errors, and nothing has moved."""
    _, columns, errors, missing, moves = spec
    values = []
    for column, how in columns:
        value = thing[column]
        if not first and column in moves and R.random() < 0.3:
            value = R.choice(others)[column]
        values.append("" if R.random() < missing else WRITTEN[how](value, style, errors / 4 if first else errors))
    return values


def copies(shape, i):
    """Returns how many records the left table, or the only one, has of thing i, and the right one."""
    z = R.random()
    return {
        "one": lambda: (z < 0.7, z > 0.35),
        "dups": lambda: (1 if z < 0.6 else R.choice([2, 2, 2, 3, 4]), 0),
        "many": lambda: (z < 0.8, 0 if z < 0.3 else R.choice([1, 1, 2, 3])),
        "alone": lambda: (1, 0),
        "halves": lambda: (i % 2 == 0, i % 2 == 1),
        "coin": lambda: (z < 0.5, z >= 0.5),
    }[shape]()


def numbered(records, tag):
    """Returns records in another order, with ids: lists of (id, thing, values)."""
    R.shuffle(records)
    return [(f"{tag}{i + 1}", thing, values) for i, (thing, values) in enumerate(records)]


def write(path, rows):
    with open(path, "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)


for made, spec in KINDS.items():
    for shape in ("one", "dups", "many", "alone", "halves", "coin"):
        R = random.Random(f"{SEED} {made} {shape}")
        FIRST, LAST, CITY, STREET, FIRM = (names(n) for n in (150, 600, 60, 200, 200))
        WORDS = [word() for _ in range(1500)]
        things, records = list(spec[0](THINGS)), ([], [])
        single = shape in ("dups", "alone")
        for i, thing in enumerate(things):
            for side, n in enumerate(copies(shape, i)):
                for k in range(n):
                    records[side].append((i, row(thing, things, spec, side, k == 0 and side == 0)))
        out = OUT / f"{made}-{shape}"
        out.mkdir(parents=True, exist_ok=True)
        head = ["id"] + [column for column, _ in spec[1]]
        tables = [numbered(of, tag) for of, tag in zip(records, "ab")]
        for of, file in zip(tables, ["table.csv"] if single else ["left.csv", "right.csv"]):
            write(out / file, [head] + [[id] + values for id, _, values in of])
        by = {}
        for id, thing, _ in tables[0]:
            by.setdefault(thing, []).append(id)
        if single:
            pairs = [(a, b) for ids in by.values() for n, a in enumerate(ids) for b in ids[n + 1:]]
        else:
            pairs = [(a, id) for id, thing, _ in tables[1] for a in by.get(thing, ())]
        write(out / "truth.csv", [["a", "b"]] + pairs)
