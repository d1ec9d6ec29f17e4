#!/usr/bin/env python3
"""Texts of many kinds with a known truth, and what --recipe auto makes of them.

usage: kinds.py ALIKE FOLDER SEED [THINGS [KIND…]]     (700 things, all kinds)

Each kind has three sets: noise (copies that were scanned, typed or, one in five, cut), parts (copies that were cut, lost
words, were replaced in part or ran into another text, with little noise), alone (no copies). FOLDER/KIND-SET/ gets
docs.jsonl and truth.csv (id,thing); a line is printed for each set: precision, recall and F1 of `alike pairs` by the
flags of `alike tune`, what tune says, WRONG where a range does not hold the truth and the figure is not within .05, F1 of
the default; then what `alike dedup` removes by --recipe auto and by the default, how many of these for a text of another
thing, and of how many things no text is left.

Forms are templates: {name} and so on are made, {p12} is prose of about 12 words, {a|b} a choice, {d3} three digits. Prose
is of BBC's and Wikipedia's words in the order in which these follow each other; languages are passages of Wikipedia, or of
words of the declaration of human rights. Functions are of Go's standard library, licences of the modules in its cache.
"""
import collections
import csv
import json
import random
import re
import subprocess
import sys
from pathlib import Path

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
LIKE = dict(e="co", o="0e", a="es", i="l1", l="1I", n="ur", m=("rn",), h="b", u="n", c="e", s="5", t="f", r="n", f="t", g="q", b="h")


def run(*command):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()


def read(path, id_=None):
    docs = (json.loads(line) for line in run("zstd", "-dc", SHARED / path).split("\n") if line)
    return [d["text"] for d in docs if id_ in (None, d["id"])]


class Maker:
    """Makes texts. The same seed makes the same."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.words = [w for t in read("bbc_news/docs.jsonl.zst") + read("wiki_multilingual/simple.jsonl.zst") for w in t.split() if not set(w) & set("{|}")]
        self.after = collections.defaultdict(list)
        for i in range(len(self.words) - 1):
            self.after[self.words[i]].append(i + 1)
        begin, middle, end = (s.split("_") for s in ("b_br_d_f_g_gr_h_j_k_l_m_n_p_r_s_st_t_th_v_w", "a_e_i_o_u_ea", "_n_r_s_l_nd_rt_ck"))
        self.syllables = [b + m + e for b in begin for m in middle for e in end]
        self.lists = {k: [self.word().capitalize() for _ in range(n)] for k, n in dict(first=120, last=900, place=250, firm=500).items()}
        self.pools = {}

    def word(self):
        return "".join(self.r.choice(self.syllables) for _ in range(self.r.choice((2, 2, 3))))

    def prose(self, n):
        out, at = [], self.r.randrange(len(self.words) - 9)
        while len(out) < n:
            step = self.r.randint(1, 4)
            out += self.words[at : at + step]
            at = min(self.r.choice(self.after.get(out[-1]) or [self.r.randrange(len(self.words))]), len(self.words) - 9)
        return " ".join(out[:n])

    def slot(self, name):
        r = self.r
        if "|" in name:
            return r.choice(name.split("|"))
        kind, number = re.fullmatch(r"([a-z]+)(\d*)", name).groups()
        n = int(number or 1)
        months = "January March April June July September October December".split()
        made = {
            "p": lambda: self.prose(max(2, int(n * r.uniform(0.5, 1.5)))),
            "d": lambda: str(r.randrange(10 ** (n - 1), 10**n)),
            "name": lambda: self.slot("first") + " " + self.slot("last"),
            "day": lambda: f"{r.randrange(1, 29)} {r.choice(months)} {r.randrange(1988, 2024)}",
            "time": lambda: f"{r.randrange(24):02}:{r.randrange(60):02}",
            "word": self.word,
        }.get(kind)
        return made() if made else self.lists[kind][int(len(self.lists[kind]) * r.random() ** 1.5)]

    def fill(self, template):
        while "{" in template:
            template = re.sub(r"\{([^{}]+)\}", lambda m: self.slot(m[1]), template)
        return template

    def lines(self, template, low, high, joint="\n"):
        return joint.join(self.fill(template) for _ in range(self.r.randint(low, high)))

    def pool(self, name, make):
        """Returns the next text of a pool, of which none repeats a fifth of the runs of five words of others; None: no more."""
        if name not in self.pools:
            kept, seen = [], set()
            for text in make():
                words = text.split() if " " in text[:200] else text
                runs = {tuple(words[i : i + 5]) for i in range(max(len(words) - 4, 1))}
                if 5 * len(runs & seen) <= len(runs):
                    kept.append(text)
                seen |= runs
            self.r.shuffle(kept)
            self.pools[name] = kept
        return self.pools[name].pop() if self.pools[name] else None

    def noisy(self, text, rate):
        out, typed = [], self.r.random() < 0.5
        for i, c in enumerate(text):
            x, near = self.r.random(), LETTERS if c.isascii() else text[max(0, i - 300) : i + 300]
            if self.r.random() >= rate or c == "\n":
                out.append(c)
            elif x < 0.6:
                out.append(self.r.choice(LIKE.get(c.lower(), near) if c.isascii() and not typed else near))
            elif x > 0.75:
                out.append(c + self.r.choice((c, " ", "." if not typed else "")))
        return "".join(out)

    def parts(self, text, other):
        """Cuts, loses, replaces and runs on: a copy keeps 55 % of its words at least."""
        spaced = 20 * text.count(" ") > len(text)
        words, x = text.split(" ") if spaced else list(text), self.r.random()
        if x < 0.4:
            words = words[: max(int(len(words) * self.r.uniform(0.55, 0.9)), 5)]
        elif x < 0.6:
            words = [w for w in words if self.r.random() > 0.08]
        elif x < 0.8:
            swap = other.split(" ") if spaced else list(other)
            words = [self.r.choice(swap) if self.r.random() < 0.08 else w for w in words]
        text = (" " if spaced else "").join(words)
        if self.r.random() < 0.25:
            text = other[: int(len(text) * self.r.uniform(0.2, 0.5))] + "\n" + text
        return self.noisy(text, self.r.choice((0, 0, 0.01, 0.02)))


FORMS = {
    "minutes": "Minutes of the meeting of the {place} {parish council|school board|water committee} held on {day} at {time}. Present: {name} (chair), {name}, {name} and {name}. Apologies were received from {name}. The minutes of the last meeting were approved as a true record. {name} reported that {p14}. It was resolved that {p12}. There being no other business the meeting closed at {time}.",
    "notices": "NOTICE IS HEREBY GIVEN that {firm} Ltd has applied to the {place} council for permission to {p9} at {d2} {last} Road, {place}. Any person who wishes to object must do so in writing within {14|21|28} days from {day}, quoting reference {d2}/{d5}. Copies of the plans may be inspected during office hours.",
    "obituaries": "{last}, {first}, of {place}, passed away peacefully at {home|the hospital of {place}} on {day}, aged {d2}. Beloved {wife|husband} of {first}, dear {mother|father} of {first}, {first} and {first}. {p10}. The funeral service will be held at St {first}'s church, {place}, on {day} at {time}. No flowers by request; donations to {firm} hospice.",
    "bots": "♪ Now playing: {p4} by {name} from the album {p3} ({19|20}{d2}) on {firm} Radio. Requested by @{word}{d2}. Listen live at radio{d1}.{word}.fm #nowplaying #{word}",
    "cars": "{firm} {word} {d1}.{d1}, {19|20}{d2}, {d2} {d3} miles, {red|blue|silver|black|white|green}, {manual|automatic}, {one owner|two owners}, full service history, MOT until {day}. {p12}. £{d4} ono. Call {first} on 0{d4} {d6} after {time}. No time wasters please.",
    "weather": "{place}: {day}. {Sunny|Cloudy|Showers|Snow} {in the morning|all day|by evening}, {light|strong|gale} winds from the {north|south|east|west}. High {d2} °C, low {d1} °C, humidity {d2} %, pressure {d4} hPa. Sunrise {time}, sunset {time}. Outlook: {p9}.",
    "lives": "{first} {last} (born {day} in {place}) is a {retired|former|professional} {footballer|singer|politician|painter} from {place}. {He|She} played for {firm} and {firm} between {d4} and {d4}, and won the {place} prize in {d4}. {p10}. {He|She} is married to {name} and lives in {place}.",
    "cards": "{last}, {first}. {p5}. — {place}: {firm}, {19|18}{d2}. — {d3} p.: ill.; {d2} cm. Bibliography: p. {d3}–{d3}. ISBN {d1}-{d4}-{d4}-{d1}. 1. {p2}. I. {name}. II. Title. Call no. {d3}.{d2} {last}",
    "offers": "{firm} {word} {{stainless steel|cotton|wooden} {kettle|chair|lamp|jacket|drill}|{word} {kit|set|bag}} – {red|blue|black|white}, size {S|M|L|XL|{d2} cm}. {p9}. Free delivery on orders over £{d2}. 30 days money back guarantee. Item no. {d7}. Was £{d2}.99, now £{d2}.99. In stock.",
    "jobs": "{Senior|Junior|Lead} {p2} – {place} – £{d2},000 per annum. Our client {firm} is looking for a {motivated|skilled|friendly} person to join its team in {place}. You will {p14} and {p14}. You have {p12}. We offer {25|28|30} days of holiday, a pension and a friendly place to work. Please send your CV to {first}@{word}.com by {day}, quoting {d5}. {firm} is an equal opportunities employer.",
    "clauses": "{d2}.{d1} The {Tenant|Licensee|Supplier} shall pay to the {Landlord|Licensor|Buyer} the sum of £{d5} within {14|28|60} days of {day}. Without prejudice to any other right or remedy, if the sum is not paid when due, interest shall accrue at {d1} per cent above the base rate of {firm} Bank from time to time. The {Tenant|Licensee|Supplier} shall not {p14} unless {p12}, and shall {p12}. This clause shall survive the termination of this agreement for {two|three|six} years.",
    "mails": "From: {name} <{word}@{word}.com>\nDate: {day} {time}\nSubject: {p4}\n\n{Hi|Dear|Hello} {first},\n\n{p40}\n\n{p25}\n\n{Regards|Best wishes|Thanks},\n{first}",
    "tweets": "{p16} {#{word}|} ",
    "forum": "How {do I|to|can I} {p7}?\n\nI am {using|new to} {firm} and {p30}. I tried {p12} but {p15}.\n",
    "reviews": "{p5}\n{p60}",
}
CHAT, STEP = ["{first}: {p6}", "{first}: {p11}", "{first}: {ok|lol|yes|no idea|thanks}"], "{Chop|Mix|Heat|Stir|Add|Bake|Fry|Boil} the {word} {with the {word}|gently} for {d2} minutes, then {p6}."
LOG = "2023-{d2}-{d2} {time}:{d2} {INFO|WARN|ERROR} [{worker|http|db}-{d1}] {GET|POST} /api/v1/{word}/{d6} status={d3} took={d3}ms user={word}"


def functions():
    root = Path(run("go", "env", "GOROOT").strip())
    for path in sorted(root.glob("src/[a-n]*/*.go")):
        for body in re.findall(r"^func .*?^}", path.read_text(errors="replace"), re.M | re.S):
            if 400 < len(body) < 4000:
                yield body


def licences():
    cache = Path(run("go", "env", "GOMODCACHE").strip())
    return sorted({p.read_text(errors="replace") for n in range(2, 5) for p in cache.glob("*/" * n + "LICENSE*") if p.is_file()})


def windows(path, size, low):
    return (t[i : i + size] for t in read(path) for i in range(0, max(len(t) - size, 1), size) if len(t[i : i + size]) > low)


def verses(m, code):
    if code not in m.pools:
        text = read("udhr/docs.jsonl.zst", code)[0]
        m.pools[code] = text.split() if code != "tha" else re.findall(r".{2,5}", re.sub(r"\s+", "", text))
    joint = "" if code == "tha" else " "
    return "\n".join(joint.join(m.r.choice(m.pools[code]) for _ in range(m.r.randint(3, 7))) for _ in range(m.r.randint(4, 14)))


def make(m, kind):
    r = m.r
    if kind in FORMS:
        return m.fill(FORMS[kind])
    if kind == "series":  # three things or so of one text
        m.pools[kind] = m.pools[kind] if kind in m.pools and r.random() < 0.7 else m.fill("{firm} {word} {kit|lamp|bag}. {p30}. {p9}. ")
        return m.pools[kind] + m.fill("{red|blue|black|white|green}, size {S|M|L|XL|{d2} cm}. Item no. {d7}. Was £{d2}.99, now £{d2}.99. In stock.")
    if kind in LANGUAGES:
        return m.pool(kind, lambda: windows(f"wiki_multilingual/{kind}.jsonl.zst", 260 if kind in ("zh", "ja") else 600, 150))
    return {
        "logs": lambda: m.lines(LOG, 4, 14),
        "chat": lambda: "\n".join(m.fill(r.choice(CHAT)) for _ in range(r.randint(5, 30))),
        "recipes": lambda: m.fill("{p3}\nServes {2|4|6}.\n") + m.lines("{d3} {g|ml|tbsp} {word} {flour|sugar|salt|butter|oil|}", 4, 10) + "\n" + m.lines(STEP, 3, 8),
        "lyrics": lambda: (lambda c: m.lines("{p6}", 4, 6) + f"\n\n{c}\n\n" + m.lines("{p6}", 4, 6) + f"\n\n{c}")(m.lines("{p5}", 3, 4)),
        "subtitles": lambda: m.lines("{p6}", 14, 40),
        "pages": lambda: m.pool("pages", lambda: windows("wiki_long_en/docs.jsonl.zst", 2000, 1500)),
        "wire": lambda: m.prose(r.randint(60, 250)),
        "dividends": lambda: m.pool("dividends", lambda: (t for t in read("reuters21578/docs.jsonl.zst") if len(t) < 700 and "div" in t.lower()[:300])),
        "results": lambda: m.pool("results", lambda: (t for t in read("reuters21578/docs.jsonl.zst") if len(t) < 900 and "Shr" in t[:200])),
        "begins": lambda: m.pool("begins", lambda: (t[:600] for t in read("wiki_multilingual/simple.jsonl.zst") if len(t) > 200)),
    }.get(kind, lambda: verses(m, VERSES[kind]) if kind in VERSES else m.pool("functions", functions))()


GO = set("func for if return range else switch case default nil true false var string int byte error len append make".split())
LANGUAGES = ("zh", "ja", "ko", "vi", "de", "he")
VERSES = dict(arabic="arb", hindi="hin", thai="tha", greek="ell_monotonic", russian="rus", tamil="tam")
KINDS = [*FORMS] + "series logs chat recipes lyrics subtitles functions headed licences pages wire dividends results begins".split() + [*LANGUAGES, *VERSES]


def dress(m, kind, text, shared, earlier):
    """Returns a text of a thing as one place has it."""
    r = m.r
    if kind == "tweets":
        return r.choice(("", "", f"RT @{m.word()}: ")) + text + f"https://t.co/{''.join(r.choice(LETTERS) for _ in range(10))}"
    if kind == "forum":
        return text + r.choice(("", "Thanks in advance!", "Any help is appreciated.", "EDIT: solved, thank you."))
    if kind == "mails" and earlier and r.random() < 0.4:
        return text + "\n\n> " + r.choice(earlier).replace("\n", "\n> ")
    if kind == "chat" and r.random() < 0.5:
        return re.sub("^", lambda _: m.fill("[{time}] "), text, flags=re.M)
    if kind == "subtitles":
        at, out = r.randrange(100), []
        for i, line in enumerate(text.split("\n")):
            at += r.randint(1, 6)
            out.append(f"{i + 1}\n00:{at // 60:02}:{at % 60:02},{r.randrange(1000):03} --> 00:{at // 60:02}:{at % 60:02},999\n{line}\n")
        return "\n".join(out)
    if kind == "functions" and r.random() < 0.7:
        new = {n: m.word() for n in sorted(set(re.findall(r"\b[a-z]\w*\b", text)) - GO) if r.random() < 0.4}
        return re.sub(r"\b[a-z]\w*\b", lambda w: new.get(w[0], w[0]), re.sub(r"//.*", "", text))
    if kind in ("headed", "licences"):
        return shared[r.randrange(4 if kind == "headed" else len(shared))][:2500] + "\n\n" + text
    if kind == "pages":
        return m.fill("{d3} ") + r.choice(shared)[:40].upper() + "\n" + text[r.randrange(250) :]
    if kind == "wire" and r.random() < 0.6:
        return text + "\n\n" + r.choice(shared)
    return text


def texts(m, kind, how, things):
    shared = licences() if kind in ("headed", "licences") else [m.prose(60) for _ in range(40)]
    m.r.shuffle(shared)
    docs, earlier, other = [], [], m.prose(200)
    for thing in range(things):
        whole = make(m, kind)
        if whole is None:
            break
        for _ in range(1 if how == "alone" else m.r.choices((1, 2, 3, 5), (50, 30, 12, 8))[0]):
            text = whole
            if how == "parts":
                text = m.parts(text, other)
            elif how == "noise":
                text = m.noisy(text[: int(len(text) * (m.r.uniform(0.6, 1) if m.r.random() < 0.2 else 1))], m.r.choice((0, 0.01, 0.02, 0.04, 0.08)))
            docs.append((thing, dress(m, kind, text, shared, earlier)))
        earlier.append(whole)
        other = whole
    m.r.shuffle(docs)
    return docs


def score(alike, folder, name):
    docs = folder / "docs.jsonl"
    thing = {row["id"]: row["thing"] for row in csv.DictReader(open(folder / "truth.csv"))}
    text = {d["id"]: d["text"] for d in map(json.loads, open(docs))}
    sizes = collections.Counter(thing.values())

    def rates(pairs, sizes):
        total = sum(n * (n - 1) // 2 for n in sizes.values())
        return (sum(pairs) / len(pairs) if pairs else 1), sum(pairs) / max(total, 1)

    def quality(flags):
        """Precision and recall, of different texts too, which tune is about; F1 and number of pairs."""
        found = [(p["a"], p["b"]) for p in csv.DictReader(run(alike, "pairs", docs, *flags, "--quiet").splitlines())]
        precision, recall = rates([thing[a] == thing[b] for a, b in found], sizes)
        told = {tuple(sorted((text[a], text[b]))): thing[a] == thing[b] for a, b in found if text[a] != text[b]}
        different = rates(list(told.values()), collections.Counter(of for of, _ in {(thing[i], text[i]) for i in thing}))
        return precision, recall, 2 * precision * recall / max(precision + recall, 1e-9), len(found), different

    def lost(*flags):
        told = run(alike, "dedup", docs, "-o", folder / "out", "--ids-only", "--json", *flags)
        kept = {thing[row["id"]] for row in csv.DictReader(open(folder / "out" / "kept.csv"))}
        wrong = sum(thing[row["id"]] != thing[row["kept_id"]] for row in csv.DictReader(open(folder / "out" / "removed.csv")))
        run("rm", "-r", folder / "out")
        return f"{json.loads(told)['removed']:5}, {wrong} for others, {len(sizes) - len(kept)} lost"

    advice = json.loads(run(alike, "tune", docs, "--json"))
    (precision, recall, f1, n, different), plain = quality(advice["flags"].split()), quality([])
    rows, said = [r for r in advice["rows"] or [] if all(r.get(k) == v for k, v in advice["chosen"].items())], ""
    for letter, is_, key in (("P", different[0], "wrong"), ("R", different[1], "found")) if rows and n else ():
        low, high = rows[0][key + "_from"], rows[0][key + "_to"]
        low, high = (1 - high, 1 - low) if key == "wrong" else (low, high)
        told = 1 - rows[0][key] if key == "wrong" else rows[0][key]
        holds = low - 5e-4 <= is_ <= high + 5e-4 or abs(told - is_) <= 0.05
        said += f"{letter} {told:.3f} {low:.2f}-{high:.2f}{'' if holds else ' WRONG'} "
    print(f"{name:16} {' '.join(advice['flags'].split()[1::2]):35} P {precision:.3f} R {recall:.3f} F1 {f1:.3f} of {n:5} said {said:40} default P {plain[0]:.3f} F1 {plain[2]:.3f};"
          f" removed {lost('--recipe', 'auto')}; {lost()} of {len(thing) - len(sizes)} copies", flush=True)


def main():
    alike, out, seed = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]
    things = int(sys.argv[4]) if len(sys.argv) > 4 else 700
    for kind in sys.argv[5:] or KINDS:
        for how in ("noise", "parts", "alone"):
            folder = out / seed / f"{kind}-{how}"
            if not (folder / "truth.csv").exists():
                folder.mkdir(parents=True, exist_ok=True)
                docs = texts(Maker(f"{seed} {kind} {how}"), kind, how, things)
                (folder / "docs.jsonl").write_text("".join(json.dumps({"id": str(i), "text": t}) + "\n" for i, (_, t) in enumerate(docs)))
                (folder / "truth.csv").write_text("id,thing\n" + "".join(f"{i},{t}\n" for i, (t, _) in enumerate(docs)))
            score(alike, folder, f"{kind} {how}")


if __name__ == "__main__":
    main()
