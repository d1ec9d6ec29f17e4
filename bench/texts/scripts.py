#!/usr/bin/env python3
"""Kinds of texts in many scripts with a known truth, and what --recipe auto makes of them: see kinds.py.

usage: scripts.py ALIKE FOLDER SEED [THINGS [KIND-LANGUAGE…]]     (600 things, all kinds in all languages)

Words are made of the letters as these follow each other in the declaration of human rights or in Wikipedia's articles.
Each kind has sets noise, parts and alone, as in kinds.py. What is shared is no copy: the head of a series, labels of a
form, clauses of a policy, what a forum quotes, the text of a shop around its products, a question with many answers, the
template of pages (60 % of each), licences above code (code-en).
"""
import json
import re
import sys
from pathlib import Path

import kinds

LANGUAGES = {  # their declarations; of two letters Wikipedia's
    "en": "eng", "ru": "rus", "el": "ell_monotonic", "ka": "kat", "hy": "hye", "ar": "arb", "fa": "pes_1", "he": "heb",
    "hi": "hin", "bn": "ben", "ta": "tam", "am": "amh", "th": "tha", "km": "khm", "my": "mya", "zh": "zh", "ja": "ja", "ko": "ko",
}
UNSPACED = {"th", "km", "my", "zh", "ja"}


class Language:
    """Makes words and prose of one language."""

    def __init__(self, rng, name):
        self.r, self.joint = rng, "" if name in UNSPACED else " "
        if name in ("zh", "ja", "ko"):
            text = " ".join(t[:1500] for t in kinds.read(f"wiki_multilingual/{name}.jsonl.zst")[:300])
            text = "".join(c for c in text if not c.isascii() or c == " ")
        else:
            text = kinds.read("udhr/docs.jsonl.zst", LANGUAGES[name])[0]
        text = re.sub(r"[\d\W]+" if name not in ("hi", "bn", "ta", "th", "km", "my") else r"[\s\d.,;:()«»\"।!?\-–—'‘’“”/]+", " ", text.lower())
        self.follow = {}
        for i in range(len(text) - 2):
            self.follow.setdefault(text[i : i + 2], []).append(text[i + 2])
        self.starts = [k for k in self.follow if k[0] == " "]
        self.vocabulary = list({self.fresh() for _ in range(7000)})

    def fresh(self):
        return self.word_of(self.r.choice((3, 4, 6, 8, 11) if self.joint else (1, 2, 2, 3, 4)), self.r.choice(self.starts))

    def word_of(self, least, at):
        out = at.strip()
        while len(out) < 14:
            c = self.r.choice(self.follow.get(at) or [" "])
            if c == " ":
                if len(out) >= least:
                    break
                at = self.r.choice(self.starts)
                out += at.strip()
                continue
            out, at = out + c, at[-1] + c
            if not self.joint and len(out) >= least:
                break
        return out

    def word(self):
        return self.vocabulary[int(len(self.vocabulary) * self.r.random() ** 3)]

    def prose(self, low, high):
        n, out, sentence = self.r.randint(low, high), [], self.r.randint(6, 16)
        for _ in range(n):
            sentence -= 1
            out.append(self.word() + ("." if sentence == 0 else ""))
            if sentence == 0:
                sentence = self.r.randint(6, 16)
        return self.joint.join(out)

    def name(self):
        return " ".join(w.capitalize() for w in (self.word(), self.fresh()))


class Scripts:
    """Makes the texts of one set: one source for all that its texts share."""

    def __init__(self, seed, language):
        self.m = kinds.Maker(seed)
        self.r, self.l = self.m.r, Language(self.m.r, language)
        p = self.l.prose
        self.labels = [[p(1, 3) for _ in range(self.r.randint(6, 11))] for _ in range(4)]
        self.notes = [p(25, 60) for _ in range(4)]
        self.clauses = [p(20, 45) for _ in range(40)]
        self.shops = [(p(15, 40), p(40, 90)) for _ in range(12)]
        self.heads = [(p(5, 8), p(14, 30)) for _ in range(3)]
        self.catalogue = [(p(2, 4), self.r.randint(1, 99)) for _ in range(300)]
        self.head, self.left, self.questions, self.posts, self.frame = "", 0, [], [], []

    def number(self, digits):
        return str(self.r.randrange(10 ** (digits - 1), 10**digits))

    def form(self):
        which = self.r.randrange(4)
        values = (lambda: self.number(6), self.l.name, lambda: self.l.prose(1, 2), lambda: f"{self.r.randint(1, 28)}.{self.r.randint(1, 12)}.{self.r.randint(1960, 2020)}")
        fields = [f"{label}: {values[i % 4]()}" for i, label in enumerate(self.labels[which])]
        return "\n".join([*fields, f"{self.labels[which][0]}: {self.l.prose(8, 30)}", self.notes[which]])

    def series(self):
        if self.left == 0:
            self.head, self.left = self.l.prose(40, 110), self.r.randint(2, 20)
        self.left -= 1
        return f"{self.head}\n\n{self.left + 1}. {self.l.prose(80, 260)}"

    def policy(self):
        name, own = self.l.name(), [self.l.prose(20, 45) for _ in range(self.r.randint(3, 7))]
        parts = own + self.r.sample(self.clauses, self.r.randint(5, 10))
        self.r.shuffle(parts)
        return f"{name}\n\n" + "\n".join(f"{i + 1}. {name} {part}" for i, part in enumerate(parts))

    def letter(self):
        head, close = self.heads[self.r.randrange(3)]
        return f"{head}\n{self.l.name()}, {self.number(5)}\n\n{self.heads[0][0]} {self.l.name()},\n\n{self.l.prose(40, 140)}\n\n{close}\n{self.l.name()}"

    def quotes(self):
        post = self.l.prose(30, 120)
        if self.posts and self.r.random() < 0.6:
            name, old = self.r.choice(self.posts[-40:])
            post = f"[quote={name}]{old}[/quote]\n{post}" if self.r.random() < 0.7 else f"{name}:\n{old}\n\n{post}"
        self.posts.append((self.l.fresh(), post[-400:]))
        return post

    def answers(self):
        if not self.questions or self.r.random() < 0.25:
            self.questions.append(self.l.prose(25, 60) + "?")
        return f"{self.r.choice(self.questions[-3:])}\n\n{self.l.prose(30, 120)}"

    def product(self):
        return f"{self.l.prose(3, 6)} {self.number(3)}\n{self.l.prose(25, 70)}\n" + "\n".join(f"{label}: {self.number(2)}" for label in self.labels[0][:5])

    def page(self):
        """Of one template, 60 % of a page."""
        if not self.frame:
            self.frame = [self.l.prose(n, n) for n in (90, 60, 120)]
        a, b, c = self.frame
        return f"{a}\n{self.l.prose(30, 60)}\n{b}\n{self.l.prose(60, 210)}\n{c}"

    def receipt(self):
        items = self.r.sample(self.catalogue, self.r.randint(5, 18))
        return f"{self.l.name()} {self.number(8)}\n" + "\n".join(f"{self.r.randint(1, 5)} {what} {price}.{self.r.choice(('00', '50', '99'))}" for what, price in items)

    def code(self):
        def functions():  # of Python's standard library
            for path in sorted(Path(sys.modules["os"].__file__).parent.glob("*.py")):
                for body in re.split(r"\n(?=class |def )", path.read_text(errors="replace")):
                    if 500 < len(body) < 4000:
                        yield body

        return self.m.pool("python", functions)

    def article(self):
        return self.l.prose(120, 400)

    def dress(self, kind, text):
        if kind == "product":
            before, behind = self.shops[self.r.randrange(12)]
            return f"{before}\n{text}\n{behind}"
        if kind == "code":
            return re.sub("^", "# ", self.m.licences[self.r.randrange(len(self.m.licences))], flags=re.M) + "\n\n" + text
        return text

    def texts(self, kind, how, things):
        self.m.licences = [t[:2000] for t in kinds.licences()][:6] if kind == "code" else []
        docs, other = [], self.l.prose(200, 201)
        for thing in range(things):
            whole = getattr(self, kind)()
            if whole is None:
                break
            for _ in range(1 if how == "alone" else self.r.choices((1, 2, 3, 5), (50, 30, 12, 8))[0]):
                text = whole
                if how == "parts":
                    text = self.m.parts(text, other)
                elif how == "noise":
                    text = self.m.noisy(text[: int(len(text) * (self.r.uniform(0.6, 1) if self.r.random() < 0.2 else 1))], self.r.choice((0, 0.01, 0.02, 0.04, 0.08)))
                docs.append((thing, self.dress(kind, text)))
            other = whole
        self.r.shuffle(docs)
        return docs


KINDS = "page form series policy letter quotes answers product receipt article".split()


def main():
    alike, out, seed = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), sys.argv[3]
    things = int(sys.argv[4]) if len(sys.argv) > 4 else 600
    for name in sys.argv[5:] or [f"{k}-{l}" for k in KINDS for l in LANGUAGES] + ["code-en"]:
        kind, language = name.split("-")
        for how in ("noise", "parts", "alone"):
            folder = out / seed / f"{name}-{how}"
            if not (folder / "truth.csv").exists():
                folder.mkdir(parents=True, exist_ok=True)
                docs = Scripts(f"{seed} {name} {how}", language).texts(kind, how, things)
                (folder / "docs.jsonl").write_text("".join(json.dumps({"id": str(i), "text": t}, ensure_ascii=False) + "\n" for i, (_, t) in enumerate(docs)))
                (folder / "truth.csv").write_text("id,thing\n" + "".join(f"{i},{t}\n" for i, (t, _) in enumerate(docs)))
            kinds.score(alike, folder, f"{name} {how}")


if __name__ == "__main__":
    main()
