package serve

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"sync"

	"github.com/valyala/fastjson"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/internal/recipeflags"
	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/recipe"
)

// sketcher makes fingerprints by one recipe. Any number of goroutines use it.
type sketcher struct {
	recipe recipe.Recipe
	scheme []byte // quoted
	makers sync.Pool
}

func newSketcher(r recipe.Recipe) *sketcher {
	s := &sketcher{recipe: r, scheme: appendQuoted(nil, r.Signature())}
	s.makers.New = func() any { return r.NewMaker(recipe.MakerOptions{Signature: true}) }
	return s
}

// append appends the fingerprint of a text as alike sketch prints it. Without an id there is none in it.
func (s *sketcher) append(dst []byte, m *recipe.Maker, id, text []byte) []byte {
	m.Make(text)
	dst = append(dst, '{')
	if id != nil {
		dst = append(appendQuoted(append(dst, `"id":`...), id), ',')
	}
	dst = append(append(append(dst, `"scheme":`...), s.scheme...), `,"signature":"`...)
	packed := s.recipe.AppendBinary(make([]byte, 0, 4*s.recipe.Words()), m.Signature())
	dst = base64.StdEncoding.AppendEncode(dst, packed)
	m.Trim()
	return append(dst, '"', '}', '\n')
}

// sketchers are the sketchers that queries have asked for, so that not each request makes its tables anew.
type sketchers struct {
	mu  sync.Mutex
	all map[string]*sketcher
}

// mostSketchers is how many recipes are kept. When there are more, all are forgotten.
const mostSketchers = 64

// of returns the sketcher for settings that key stands for.
func (s *sketchers) of(key string, set func(f *flagSet) error) (*sketcher, error) {
	s.mu.Lock()
	k := s.all[key]
	s.mu.Unlock()
	if k != nil {
		return k, nil
	}
	r, err := signatures(set)
	if err != nil {
		return nil, err
	}
	k = newSketcher(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil || len(s.all) >= mostSketchers {
		s.all = map[string]*sketcher{}
	}
	s.all[key] = k
	return k, nil
}

// ofQuery returns the sketcher for the settings in a query.
func (s *sketchers) ofQuery(query url.Values) (*sketcher, error) {
	return s.of("?"+query.Encode(), func(f *flagSet) error { return f.setQuery(query) })
}

// sketch appends the answer to a request for the fingerprint of one text: {"text", "id"?, settings}.
func (s *sketchers) sketch(dst, body []byte) (answer []byte, err error) {
	p := sketchParsers.Get().(*fastjson.Parser)
	defer sketchParsers.Put(p)
	v, err := p.ParseBytes(body)
	if err != nil {
		return dst, badJSON(err)
	}
	id, text, err := idAndText(v)
	if err != nil {
		return dst, err
	}
	var key []byte // the settings as they are written
	v.GetObject().Visit(func(name []byte, value *fastjson.Value) {
		if n := string(name); n != idField && n != textField {
			key = append(value.MarshalTo(append(appendQuoted(key, name), ':')), ',')
		}
	})
	k, err := s.of(string(key), func(f *flagSet) error { return f.setObject(body, idField, textField) })
	if err != nil {
		return dst, err
	}
	m := k.makers.Get().(*recipe.Maker)
	defer k.makers.Put(m)
	return k.append(dst, m, id, text), nil
}

// sketchParsers are for bodies that are not documents.
var sketchParsers = sync.Pool{New: func() any { return new(fastjson.Parser) }}

// idAndText returns the fields of a text to be fingerprinted; id is nil if there is none.
func idAndText(v *fastjson.Value) (id, text []byte, err error) {
	if v.Type() != fastjson.TypeObject {
		return nil, nil, errNoObject
	}
	if of := v.Get(idField); of != nil {
		if id, err = scalar(idField, of); err != nil {
			return nil, nil, err
		}
	}
	of := v.Get(textField)
	if of == nil || of.Type() != fastjson.TypeString {
		return nil, nil, unprocessable(textField, "is missing or no string")
	}
	text, err = of.StringBytes()
	return id, text, err
}

// sketchWork makes fingerprints of lines.
type sketchWork struct {
	k    *sketcher
	json fastjson.Parser
	out  []byte
}

// prepare implements lineWork.
func (w *sketchWork) prepare(lines []byte) {
	w.out = w.out[:0]
	m := w.k.makers.Get().(*recipe.Maker)
	defer w.k.makers.Put(m)
	eachLine(lines, func(line []byte) {
		v, err := w.json.ParseBytes(line)
		if err != nil {
			err = badJSON(err)
		}
		var id, text []byte
		if err == nil {
			id, text, err = idAndText(v)
		}
		if err != nil {
			p, _ := asProblem(err)
			w.out = append(p.line(w.out), '\n')
			return
		}
		w.out = w.k.append(w.out, m, id, text)
	})
}

// decide implements lineWork.
func (w *sketchWork) decide() error { return nil }

// answer implements lineWork.
func (w *sketchWork) answer(dst []byte) ([]byte, error) { return append(dst, w.out...), nil }

// compareTexts answers {"a", "b", settings of texts and scheme} as alike compare does.
func compareTexts(body []byte) (answer []byte, err error) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, badJSON(err)
	}
	var texts [2]string
	for i, name := range []string{"a", "b"} {
		if err := json.Unmarshal(all[name], &texts[i]); err != nil || all[name] == nil {
			return nil, unprocessable(name, "is missing or no string")
		}
		delete(all, name)
	}
	var of recipeflags.Text
	var sketch recipeflags.Sketch
	flags := newFlagSet(&of, func(to *pflag.FlagSet) {
		of.Add(to)
		sketch.Add(to)
	})
	for name, value := range all {
		if err := flags.setJSON(name, value); err != nil {
			return nil, err
		}
	}
	options, err := of.Options()
	if err != nil {
		return nil, explained(err)
	}
	scheme, err := sketch.MinHash(flags.FlagSet)
	if err != nil {
		return nil, explained(err)
	}
	schemes := []minhash.Scheme{scheme}
	if !flags.Changed("scheme") {
		if schemes, err = alike.ComparisonSchemes(scheme.K(), scheme.Seed()); err != nil {
			return nil, err
		}
	}
	comparison, err := alike.Compare([]byte(texts[0]), []byte(texts[1]), options, schemes...)
	if err != nil {
		return nil, explained(err)
	}
	return marshal(comparison)
}
