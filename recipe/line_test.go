package recipe_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/alike-dev/alike/exlsh"
	"github.com/alike-dev/alike/lsh"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
	"github.com/alike-dev/alike/text"
)

func sketchOf(t *testing.T, line string) minhash.Scheme {
	t.Helper()
	s, err := minhash.ParseScheme(line)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fieldsOf returns the names of a struct's fields.
func fieldsOf[T any]() (names []string) {
	for field := range reflect.TypeFor[T]().Fields() {
		names = append(names, field.Name)
	}
	return names
}

// otherTexts are options that differ from the default in one field, by its name. What
// cannot be had from a line again is named in notInLine.
func otherTexts() map[string][]text.Options {
	keep := func([]byte) bool { return true }
	return map[string][]text.Options{
		"Version":         {{Version: text.V1}},
		"Normalize":       {{Normalize: text.NFC}, {Normalize: text.None}},
		"NoFold":          {{NoFold: true}},
		"StripDiacritics": {{StripDiacritics: true}},
		"Tokens": {
			{Tokens: text.Alnum}, {Tokens: text.UAX29}, {Tokens: text.Space}, {Tokens: text.Chars}, {Tokens: text.Graphemes}, {Tokens: text.ASCII},
		},
		"StopWords":  {{StopWords: []string{"the"}}, {StopWords: []string{"of", "the"}}},
		"MinLength":  {{MinLength: 2}, {MinLength: 3}},
		"Filter":     {{Filter: keep, FilterName: "a"}},
		"FilterName": {{Filter: keep, FilterName: "b"}, {Filter: keep, FilterName: "|"}},
	}
}

func otherFeatures(t *testing.T) map[string][]shingle.Options {
	texts := []shingle.Options{}
	for _, name := range fieldsOf[text.Options]() {
		others := otherTexts()[name]
		if len(others) == 0 {
			t.Errorf("text.Options.%s: no other value of it is tried here", name)
		}
		for _, o := range others {
			texts = append(texts, shingle.Options{Text: o})
		}
	}
	return map[string][]shingle.Options{
		"Text":        texts,
		"N":           {{N: 1}, {N: 54}},
		"Repetitions": {{Repetitions: true}},
		"Multiset":    {{Multiset: true}},
		"Weights":     {{Weights: &shingle.Weights{Name: "exact"}}, {Weights: &shingle.Weights{Name: "sketch:0:0:0"}}},
		"Hash": {
			{Hash: shingle.FNV1, Text: text.Options{Tokens: text.ASCII}}, {Hash: shingle.FNV1, Text: text.Options{Tokens: text.ASCII, NoFold: true}},
			{Hash: shingle.FNV1a64},
		},
	}
}

func otherSketches(t *testing.T) map[string][]minhash.Scheme {
	numbers, err := minhash.Permutations([]uint64{1, 2, 3}, 32)
	if err != nil {
		t.Fatal(err)
	}
	others := map[string][]minhash.Scheme{"numbers": {numbers}}
	for field, lines := range map[string][]string{
		"method": {"kmins", "kmins family=xor", "kmins family=plainxor", "bottomk", "bottomk hash=fnv1a", "bottomk hash=fnv1a-listing"},
		"k":      {"oph k=64", "kmins k=64"},
		"bits":   {"oph bits=8", "bottomk bits=32"},
		"seed":   {"oph seed=2", "kmins seed=2", "bottomk seed=2"},
	} {
		for _, line := range lines {
			others[field] = append(others[field], sketchOf(t, line))
		}
	}
	return others
}

// otherExLSH are options of package exlsh that differ in a field.
func otherExLSH(t *testing.T) map[string][]exlsh.Options {
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	nfkc, err := exlsh.NormalizeText(text.Options{StripDiacritics: true})
	must(err)
	nfc, err := exlsh.NormalizeText(text.Options{Normalize: text.NFC, Version: text.V1})
	must(err)
	alnum, err := exlsh.TokenizeText(text.Options{Tokens: text.Alnum})
	must(err)
	return map[string][]exlsh.Options{
		"Normalizer": {{Normalizer: exlsh.Verbatim}, {Normalizer: nfkc}, {Normalizer: nfc}},
		"Tokenizer":  {{Tokenizer: exlsh.Graphemes}, {Tokenizer: alnum}},
		"Filter": {
			{Filter: exlsh.Without(exlsh.WordCharacters, nil, 2)}, {Filter: exlsh.Without(exlsh.WordCharacters, []string{"the"}, 2)},
			{Filter: exlsh.Keep("mine", func([]byte) bool { return true })},
		},
		"N":    {{N: 1}, {N: 4}},
		"Hash": {{Hash: exlsh.SHA1}, {Hash: exlsh.XXH3}},
	}
}

// walk calls try for every other value of every field of T.
func walk[T any](t *testing.T, others map[string][]T, names []string, try func(T)) {
	t.Helper()
	for _, name := range names {
		if len(others[name]) == 0 {
			t.Errorf("%s.%s: no other value of it is tried here", reflect.TypeFor[T](), name)
		}
		for _, o := range others[name] {
			try(o)
		}
	}
}

// otherRecipes are the default and recipes that differ from it, or from others of
// their kind, in one field. No two of them are the same.
func otherRecipes(t *testing.T) (recipes []recipe.Recipe) {
	t.Helper()
	add := func(o recipe.Options) {
		t.Helper()
		recipes = append(recipes, made(t, o))
	}
	add(recipe.Options{})
	hashed := recipe.SimHash(simhash.Default())
	walk(t, otherFeatures(t), fieldsOf[shingle.Options](), func(o shingle.Options) {
		add(recipe.Options{Features: o})
		add(recipe.Options{Features: o, Sketch: hashed})
	})
	walk(t, otherSketches(t), fieldsOf[minhash.Scheme](), func(s minhash.Scheme) { add(recipe.Options{Sketch: s}) })
	exlshTexts := func(o exlsh.Options) {
		texts, err := recipe.ExLSH(o)
		if err != nil {
			t.Fatal(err)
		}
		add(recipe.Options{Texts: texts})
	}
	exlshTexts(exlsh.Options{})
	walk(t, otherExLSH(t), fieldsOf[exlsh.Options](), exlshTexts)
	wide, simple := parsedSimHash(t, "fastsimhash bits=128"), parsedSimHash(t, "simhash")
	add(recipe.Options{Texts: recipe.Hash4jWords(simhash.Default())})
	walk(t, map[string][]simhash.Scheme{"method": {simple}, "bits": {wide}}, fieldsOf[simhash.Scheme](), func(s simhash.Scheme) {
		add(recipe.Options{Sketch: recipe.SimHash(s)})
		add(recipe.Options{Texts: recipe.Hash4jWords(s)})
	})
	walk(t, otherDecisions(t), fieldsOf[recipe.Options](), add)
	return recipes
}

// otherDecisions are options that differ from the one before in one field. Features, Sketch
// and Texts are tried elsewhere.
func otherDecisions(t *testing.T) map[string][]recipe.Options {
	base := recipe.Options{Threshold: threshold(t, 0.8)}
	with := func(change func(*recipe.Options)) recipe.Options {
		o := base
		change(&o)
		return o
	}
	hashed := recipe.Options{Sketch: recipe.SimHash(simhash.Default()), Distance: new(3)}
	nearer := hashed
	nearer.Distance = new(0)
	contained := recipe.Options{Threshold: thresholdOf(t, measure.Containment, 0.8)}
	return map[string][]recipe.Options{
		"Features": {with(func(o *recipe.Options) { o.Features.N = 2 })},
		"Sketch":   {with(func(o *recipe.Options) { o.Sketch = sketchOf(t, "kmins") })},
		"Texts":    {{Texts: recipe.Hash4jWords(simhash.Default()), Distance: new(3)}},
		"Threshold": {base, with(func(o *recipe.Options) {
			o.Threshold, o.Banding = threshold(t, 0.7), made(t, base).Banding()
		})},
		"Verify":  {with(func(o *recipe.Options) { o.Verify = recipe.Sketch }), with(func(o *recipe.Options) { o.Verify = recipe.None })},
		"Keys":    {with(func(o *recipe.Options) { o.Keys = recipe.NoKeys })},
		"Recall":  {with(func(o *recipe.Options) { o.Recall = 0.5 })},
		"Banding": {with(func(o *recipe.Options) { o.Banding = lsh.Params{Bands: 4, Rows: 5, MinBands: 1} }), with(func(o *recipe.Options) { o.Banding = lsh.Params{Bands: 4, Rows: 5, MinBands: 2} })},
		"Sample": {
			contained,
			with(func(o *recipe.Options) { *o = contained; o.Keys = recipe.NoKeys }),
			with(func(o *recipe.Options) { *o = contained; o.Sample = lsh.Sample{Size: 7, Agree: 2} }),
			with(func(o *recipe.Options) { *o = contained; o.Sample = lsh.Sample{Size: 8, Agree: 3} }),
		},
		"Distance": {hashed, nearer},
		"Within": {
			with(func(o *recipe.Options) { o.Within = "lang" }), with(func(o *recipe.Options) { o.Within = "a \"b\" | c" }),
			{Threshold: base.Threshold, Within: "no keys"}, {Within: " | within \"x\""},
		},
	}
}

func made(t *testing.T, o recipe.Options) recipe.Recipe {
	t.Helper()
	r, err := recipe.New(o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return r
}

func threshold(t *testing.T, value float64) measure.Threshold {
	t.Helper()
	return thresholdOf(t, measure.Jaccard, value)
}

func thresholdOf(t *testing.T, m measure.Measure, value float64) measure.Threshold {
	t.Helper()
	at, err := measure.NewThreshold(m, value)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func parsedSimHash(t *testing.T, line string) simhash.Scheme {
	t.Helper()
	s, err := simhash.ParseScheme(line)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// notInLine begin the words that stand for what a line does not hold.
var notInLine = []string{"idf=", "stop=", "filter=", "numbers=", "filter=stop:", "filter=mine"}

func TestDifferentRecipesHaveDifferentLinesThatAreParsedBack(t *testing.T) {
	seen := map[string]recipe.Recipe{}
	for _, r := range otherRecipes(t) {
		line := r.String()
		if before, twice := seen[line]; twice {
			t.Errorf("two recipes have the line %q: %+v and %+v", line, before, r)
		}
		seen[line] = r
		back, err := recipe.Parse(line)
		named := false
		for _, word := range notInLine {
			named = named || strings.Contains(line, " "+word)
		}
		switch {
		case err == nil && back.String() != line:
			t.Errorf("%q is parsed to %q", line, back)
		case err != nil && !named:
			t.Errorf("%q is not parsed: %v", line, err)
		case err != nil && !strings.Contains(err.Error(), "set ") && !strings.Contains(err.Error(), "give "):
			t.Errorf("%q: the error does not say what to do: %v", line, err)
		}
	}
}

func TestBadRecipesAreRefusedWithTheRemedy(t *testing.T) {
	for line, want := range map[string]string{
		"":                                            "only one half",
		"minhash/oph/v1 k=4":                          "only one half",
		"text/v2 words | phash":                       "unknown scheme",
		"text/v9 | oph":                               "use one of text/v2, text/v1",
		"words unicode=1 | oph":                       "cannot be compared",
		"words | simhash/simhash/v1 bits=0":           "bits",
		"words | bottomk hash=fnv1a":                  "hashed by",
		"exlsh/v9 n=3":                                "not a line of exlsh/v1",
		"exlsh/v1 tokens=mine":                        "set it in Options",
		"exlsh/v1 n=0":                                "1 or more",
		"exlsh/v1 normalize=text/v2,nfx":              "unknown word",
		"words | oph | bands=16 rows=6":               "has 3 parts",
		"words | oph | bands=16 | jaccard>=0.8 exact": "rows",
		"words | oph | within lang":                   "quotation marks",
		`words | oph | within ""`:                     "no name of a field",
		"words | oph | bands=a rows=6 | jaccard>=0.8 exact":                  "no keys",
		"words | oph | bands=1 rows=6 | jaccard>=0.8":                        "how it is verified",
		"words | oph | no keys | jaccard>=0.8 sketch":                        "bands",
		"words | oph | blocks keys=10 | hamming<=3":                          "not compared by Hamming distance",
		"words | simhash/simhash/v1 bits=64 | blocks keys=9 | hamming<=3":    "do not go with",
		"words | simhash/simhash/v1 bits=64 | blocks keys=10 | hamming<=far": "from 0 on",
		"exlsh/v1 n=3 | bands=16 rows=6 | jaccard>=0.8 exact":                "Hamming distance",
	} {
		if _, err := recipe.Parse(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want something about %q", line, err, want)
		}
	}
}

// FuzzParse asks that what is accepted has a line that stays as it is.
func FuzzParse(f *testing.F) {
	f.Add("text/v2 nfkc fold words n=5 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1")
	f.Add("text/v2 nfkc fold words n=5 unicode=15.0.0 | minhash/oph/v1 k=128 bits=32 seed=1 | within \"lang\"")
	f.Add("utf16/v1 hash=fnv1a64 n=3 unicode=15.0.0 | minhash/bottomk/v1 k=4 bits=64 hash=fnv1a")
	f.Add("text/hash4j/v1 tokens=space utf16le komihash=5.0 | simhash/fastsimhash/v1 bits=64")
	f.Add("exlsh/v1 normalize=text/v2,nfkc,fold tokens=graphemes filter=stop:0,min:2 n=3 hash=md5")
	f.Fuzz(func(t *testing.T, line string) {
		r, err := recipe.Parse(line)
		if err != nil {
			return
		}
		again, err := recipe.Parse(r.String())
		if err != nil || again.String() != r.String() {
			t.Fatalf("%q gives %q, and that %q, %v", line, r, again, err)
		}
	})
}

// What has equal lines, made anew from the line, has equal signatures.
func TestARecipeThatIsParsedBackMakesTheSameSignatures(t *testing.T) {
	doc := []byte("The quick brown fox, the soft\u00adhyphen and Straße of Σίσυφος; 東京 12 the end")
	for _, r := range otherRecipes(t) {
		back, err := recipe.Parse(r.String())
		if err != nil {
			continue // told apart by the test of lines
		}
		if want, got := signature(t, r, doc), signature(t, back, doc); string(got) != string(want) {
			t.Errorf("%s: signature %x, parsed back %x", r, want, got)
		}
	}
}

func signature(t *testing.T, r recipe.Recipe, doc []byte) []byte {
	t.Helper()
	m := r.NewMaker(recipe.MakerOptions{Signature: true})
	if m.Make(doc).Features == 0 {
		t.Fatalf("%s: no features", r)
	}
	return r.AppendBinary(nil, m.Signature())
}
