package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
	"github.com/alike-dev/alike/internal/bom"
)

// service is a running server.
type service struct {
	t      testing.TB
	server *Server
	url    string
	token  string
}

func start(t testing.TB, c Config) *service {
	t.Helper()
	c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		http.DefaultClient.CloseIdleConnections()
		if err := errors.Join(s.Shutdown(ctx), s.Close()); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &service{t: t, server: s, url: "http://" + listener.Addr().String()}
}

// do sends a request and returns its status and body.
func (s *service) do(method, path, kind, body string) (int, string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer.StatusCode, string(out)
}

// want sends JSON and compares the answer with a status and a body, "" for any.
func (s *service) want(status int, answer, method, path, body string) {
	s.t.Helper()
	got, out := s.do(method, path, jsonType, body)
	if got != status || answer != "" && strings.TrimSpace(out) != answer {
		s.t.Errorf("%s %s %.80s: %d %s, want %d %s", method, path, body, got, out, status, answer)
	}
}

// texts returns documents, of which about half are edits of one of the last hundred, as lines.
func texts(n int) (lines []string) {
	random := rand.New(rand.NewPCG(1, 2))
	var all [][]string
	for i := range n {
		var words []string
		if i > 0 && random.IntN(2) == 0 {
			words = append(words, all[max(0, i-1-random.IntN(min(i, 100)))]...)
			for range random.IntN(4) {
				words[random.IntN(len(words))] = fmt.Sprintf("w%d", random.IntN(5000))
			}
		} else {
			for range 60 {
				words = append(words, fmt.Sprintf("w%d", random.IntN(5000)))
			}
		}
		all = append(all, words)
		lines = append(lines, fmt.Sprintf(`{"id":"d%d","text":%q}`, i, strings.Join(words, " ")))
	}
	return lines
}

// streamed returns the answers that package stream's decisions are for the same lines.
func streamed(t *testing.T, body string, lines []string) []string {
	t.Helper()
	s, err := parseSettings([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.options(time.Now)
	if err != nil {
		t.Fatal(err)
	}
	x, err := index.New(index.Options{Recipe: o.Recipe, Window: o.Window, BucketCap: o.BucketCap})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	reading := corpus.Options{Format: corpus.JSONL, Stdin: strings.NewReader(strings.Join(lines, "\n"))}
	sources, _, err := corpus.Find(t.Context(), []string{"-"}, reading)
	if err != nil {
		t.Fatal(err)
	}
	var dropped bytes.Buffer
	if _, err := stream.Run(t.Context(), stream.Config{Index: x, Source: sources[0], Corpus: reading, Out: io.Discard, Duplicates: &dropped}); err != nil {
		t.Fatal(err)
	}
	answers := make([]string, len(lines))
	for i := range answers {
		answers[i] = `{"new":true}`
	}
	for line := range strings.Lines(dropped.String()) {
		var at int
		rest := strings.TrimPrefix(line, `{"id":"d`)
		if _, err := fmt.Sscanf(rest, "%d", &at); err != nil {
			t.Fatal(err)
		}
		_, rest, _ = strings.Cut(rest, ",")
		answers[at] = `{"new":false,` + strings.TrimSpace(rest)
	}
	return answers
}

func TestTheServiceDecidesAsAStreamDoes(t *testing.T) {
	lines := texts(600)
	for _, settings := range []string{
		`{"window":{"docs":80}}`,
		`{"threshold":0.6,"ngram":3,"scheme":"kmins k=64"}`,
		`{"preset":"exlsh-word","distance":3,"window":{"docs":80}}`,
		`{"distance":8,"stop_words":["w1","w2"],"window":{"docs":200,"refresh":true}}`,
	} {
		want := streamed(t, settings, lines)
		duplicates := 0
		for _, answer := range want {
			if answer != `{"new":true}` {
				duplicates++
			}
		}
		if duplicates < 20 {
			t.Fatalf("%s: only %d duplicates", settings, duplicates)
		}
		for _, dir := range []string{"", t.TempDir()} {
			s := start(t, Config{Dir: dir})
			s.want(http.StatusCreated, "", "PUT", "/v1/collections/lines", settings)
			s.want(http.StatusCreated, "", "PUT", "/v1/collections/single", settings)
			code, out := s.do("POST", "/v1/collections/lines/documents", ndjson, strings.Join(lines, "\n"))
			if got := strings.Split(strings.TrimSpace(out), "\n"); code != http.StatusOK || strings.Join(got, "\n") != strings.Join(want, "\n") {
				t.Fatalf("%s, NDJSON: %d, answers differ from those of the stream", settings, code)
			}
			if dir != "" {
				continue // each waits for the disk
			}
			for i, line := range lines {
				if code, out := s.do("POST", "/v1/collections/single/check", jsonType, line); code != http.StatusOK || strings.TrimSpace(out) != want[i] {
					t.Fatalf("%s: %s: %d %s, want %s", settings, line[:12], code, out, want[i])
				}
			}
		}
	}
}

func TestARepeatedCheckGetsTheSameAnswer(t *testing.T) {
	s := start(t, Config{})
	const at = "/v1/collections/c"
	const first, like = `{"id":"a","text":"one two three four five six seven"}`, `{"id":"b","text":"one two three four five six seven!"}`
	s.want(http.StatusNotFound, "", "POST", at+"/check", first)
	s.want(http.StatusCreated, `{"ngram":2}`, "PUT", at, `{"ngram":2}`)
	s.want(http.StatusOK, `{"ngram":2}`, "PUT", at, `{"ngram":2}`)
	s.want(http.StatusConflict, "", "PUT", at, `{"ngram":3}`)
	s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check?add=false", first)
	for range 2 {
		s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check", first)
		s.want(http.StatusOK, `{"new":false,"duplicate_of":"a","similarity":1.000000}`, "POST", at+"/check", like)
	}
	s.want(http.StatusConflict, "", "POST", at+"/check", `{"id":"a","text":"one two three four five six seven!"}`)
	s.want(http.StatusConflict, "", "POST", at+"/check?add=false", `{"id":"a","text":"another one"}`)
	s.want(http.StatusOK, `{"replaced":true}`, "PUT", at+"/documents/a", `{"text":"quite another text than before it was"}`)
	s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check", like)
	s.want(http.StatusNoContent, "", "DELETE", at+"/documents/b", "")
	s.want(http.StatusNotFound, "", "DELETE", at+"/documents/b", "")
	s.want(http.StatusNoContent, "", "DELETE", at, "")
	s.want(http.StatusNotFound, "", "GET", at, "")
}

func TestMetadataIsGivenBackAndFiltered(t *testing.T) {
	s := start(t, Config{Dir: t.TempDir()})
	const at = "/v1/collections/c"
	const text = `"text":"one two three four five six seven"`
	s.want(http.StatusCreated, "", "PUT", at, `{"ngram":2,"fields":{"tenant":"string","published":"time","price":"number"}}`)
	s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check", `{"id":"a/1",`+text+`,"tenant":"x","published":"2026-01-01","price":-2,"more":{"deep":[1,"é"]},"filter":{"tenant":"x"}}`)
	s.want(http.StatusOK, `{"id":"a/1","text":"one two three four five six seven","tenant":"x","published":"2026-01-01","price":-2,"more":{"deep":[1,"é"]}}`, "GET", at+"/documents/a%2F1", "")
	s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check", `{"id":"b",`+text+`,"tenant":"y","published":"2026-02-01","price":5,"filter":{"tenant":"y"}}`)
	s.want(http.StatusOK, `{"new":false,"duplicate_of":"b","similarity":1.000000}`, "POST", at+"/check", `{"id":"c",`+text+`,"tenant":"y","filter":{"tenant":["y","z"]}}`)
	for filter, ids := range map[string]string{
		`{"tenant":"x"}`: "a/1", `{"price":{"from":-2}}`: "a/1 b", `{"price":{"from":-1.5}}`: "b", `{"price":{"to":5}}`: "a/1",
		`{"published":{"from":"2026-01-01","to":"2026-02-01"}}`: "a/1", `{"published":{"from":"2026-01-02"},"tenant":"x"}`: "",
	} {
		code, out := s.do("POST", at+"/search", jsonType, `{`+text+`,"filter":`+filter+`}`)
		var answer struct{ Matches []foundDocument }
		if err := json.Unmarshal([]byte(out), &answer); err != nil || code != http.StatusOK {
			t.Fatal(code, out, err)
		}
		got := []string{}
		for _, m := range answer.Matches {
			got = append(got, m.ID)
		}
		if strings.Join(got, " ") != ids {
			t.Errorf("filter %s: %q, want %q", filter, got, ids)
		}
	}
	s.want(http.StatusUnprocessableEntity, "", "POST", at+"/search", `{`+text+`,"filter":{"more":1}}`)
}

func TestEvidenceSaysWhyADocumentIsNewOrNot(t *testing.T) {
	s := start(t, Config{})
	const like = `"text":"snow has closed the pass above the lake"`
	for _, c := range []struct{ settings, first, second, none string }{
		{
			`{"ngram":2,"fields":{"lang":"string"}}`,
			`{"new":false,"duplicate_of":"a","similarity":1.000000,"evidence":{"rule":"jaccard>=0.8","reason":"nearest is like it by the rule, and came first","nearest":{"id":"a","similarity":1,"metadata":{"lang":"en"},"passages":[{"tokens":8,"a":{"start":0,"end":39},"b":{"start":0,"end":39}}]}}}`,
			`{"new":true,"evidence":{"rule":"jaccard>=0.8","reason":"nearest is the most similar document, and is not alike by the rule","compared":"all","nearest":{"id":"a","similarity":0.18181818181818182,"metadata":{"lang":"en"},"passages":[{"tokens":3,"a":{"start":0,"end":15},"b":{"start":0,"end":15}}]}}}`,
			`{"new":true,"evidence":{"rule":"jaccard>=0.8","reason":"no document that the filter accepts has anything in common with it","compared":"all"}}`,
		},
		{
			`{"distance":3,"preset":"exlsh-word","fields":{"lang":"string"}}`,
			`{"new":false,"duplicate_of":"a","similarity":1.000000,"evidence":{"rule":"hamming<=3","reason":"nearest is like it by the rule, and came first","nearest":{"id":"a","similarity":1,"metadata":{"lang":"en"}}}}`,
			"", `{"new":true,"evidence":{"rule":"hamming<=3","reason":"no document that the filter accepts has anything in common with it","compared":"all"}}`,
		},
	} {
		const at = "/v1/collections/c"
		s.want(http.StatusCreated, "", "PUT", at, c.settings)
		s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check", `{"id":"a",`+like+`,"lang":"en"}`)
		s.want(http.StatusOK, c.first, "POST", at+"/check", `{"id":"b",`+like+`,"evidence":true}`)
		const other = `{"id":"c","text":"snow has closed roads of another country","evidence":true}`
		s.want(http.StatusOK, c.second, "POST", at+"/check", other)
		if code, out := s.do("POST", at+"/check", jsonType, other); c.second == "" && (code != http.StatusOK || !strings.Contains(out, `"nearest":{"id":"a","similarity":0.`)) {
			t.Errorf("%d %s", code, out)
		}
		s.want(http.StatusOK, c.none, "POST", at+"/check", `{"id":"d",`+like+`,"evidence":true,"filter":{"lang":"de"}}`)
		code, out := s.do("POST", at+"/search", jsonType, `{`+like+`,"evidence":true,"filter":{"lang":"en"}}`)
		if code != http.StatusOK || !strings.Contains(out, `"id":"a"`) || !strings.Contains(out, `"reason":"all matches reach`) {
			t.Errorf("%d %s", code, out)
		}
		s.want(http.StatusOK, "", "POST", at+"/search", `{"text":"snow has closed something else for good","evidence":true}`)
		s.want(http.StatusNoContent, "", "DELETE", at, "")
	}
}

// ofGo is what errors of Go's packages have that is not for those who ask.
var ofGo = regexp.MustCompile(`json: |strconv|float64|\bint\b|invalid syntax|out of range|Go (value|struct)|EOF`)

func TestProblemsNameTheFieldAndNeverTheText(t *testing.T) {
	s := start(t, Config{Limits: Limits{Body: 1000, Line: 1000}})
	const at, secret = "/v1/collections/c", "confidential"
	s.want(http.StatusCreated, "", "PUT", at, `{"fields":{"n":"number"}}`)
	for _, c := range []struct {
		status                    int
		method, path, body, field string
	}{
		{422, "PUT", "/v1/collections/d", `{"ngram":"confidential"}`, "ngram"},
		{422, "PUT", "/v1/collections/d", `{"threshold":true}`, "threshold"},
		{422, "PUT", "/v1/collections/d", `{"tokens":"confidential"}`, "tokens"},
		{422, "PUT", "/v1/collections/d", `{"tokens":["confidential"]}`, "tokens"},
		{422, "PUT", "/v1/collections/d", `{"ngram":1e30}`, "ngram"},
		{422, "PUT", "/v1/collections/d", `{"threshold":"confidential"}`, "threshold"},
		{422, "PUT", "/v1/collections/d", `{"keys":["confidential"]}`, "keys"},
		{422, "PUT", "/v1/tables/t", `{"model":["confidential"]}`, "model"},
		{422, "PUT", "/v1/tables/t", `{"model":{"alike_model":"confidential"}}`, "model"},
		{422, "PUT", "/v1/collections/d", `{"threshold":2}`, "threshold"},
		{422, "PUT", "/v1/collections/d", `{"bits":64,"distance":3}`, "bits"},
		{422, "PUT", "/v1/collections/d", `{"permutations":"/etc/confidential"}`, "permutations"},
		{422, "PUT", "/v1/collections/d", `{"stop_words":"/etc/confidential"}`, "stop_words"},
		{422, "PUT", "/v1/collections/d", `{"window":{"age":"confidential"}}`, "window"},
		{422, "PUT", "/v1/collections/D", `{}`, "collection"},
		{422, "POST", at + "/check", `{"id":"a"}`, "text"},
		{422, "POST", at + "/check", `{"text":"confidential"}`, "id"},
		{422, "POST", at + "/check", `{"id":"a","text":"confidential","time":"confidential"}`, "time"},
		{422, "POST", at + "/check", `{"id":"a","text":"t","n":"confidential"}`, "n"},
		{422, "POST", at + "/check?add=confidential", `{"id":"a","text":"t"}`, "add"},
		{422, "POST", at + "/check?add", `{"id":"a","text":"t"}`, "add"},
		{422, "POST", at + "/check?add=true&add=false", `{"id":"a","text":"t"}`, "add"},
		{400, "POST", at + "/check?ad=false", `{"id":"a","text":"t"}`, "ad"},
		{400, "POST", at + "/check?add=false;confidential", `{"id":"a","text":"t"}`, ""},
		{400, "POST", at + "/check?add=false%", `{"id":"a","text":"t"}`, ""},
		{422, "POST", at + "/check", `{"id":"a","text":"confidential","text":"another"}`, "text"},
		{422, "POST", at + "/check", `{"id":"a","id":"b","text":"confidential"}`, "id"},
		{422, "POST", at + "/check", `{"id":"a","text":"confidential","n":1,"n":2}`, "n"},
		{404, "POST", "//v1/collections/c/check", `{"id":"a","text":"confidential"}`, ""},
		{404, "GET", "/v1/collections/../collections/c", "", ""},
		{422, "POST", at + "/search", `{"text":"t","threshold":0.1}`, "threshold"},
		{422, "POST", at + "/search", `{"text":"t","confidential2":1,"top":0}`, ""},
		{422, "POST", "/v1/sketch", `{"text":"t","preset":"confidential"}`, "preset"},
		{400, "POST", at + "/check", `{"id":"a","text":"confidential`, ""},
		{413, "POST", at + "/check", `{"id":"a","text":"confidential ` + strings.Repeat("x", 1000) + `"}`, ""},
		{404, "GET", "/v1/collections/confidential", "", ""},
		{404, "GET", "/confidential", "", ""},
		{405, "PATCH", at, "", ""},
	} {
		code, out := s.do(c.method, c.path, jsonType, c.body)
		var p Problem
		if err := json.Unmarshal([]byte(out), &p); err != nil || code != c.status || p.Status != code || c.field != "" && p.Field != c.field || p.Title == "" || p.Detail == "" {
			t.Errorf("%s %s %.60s: %d %s", c.method, c.path, c.body, code, out)
		}
		if strings.Contains(strings.ReplaceAll(out, secret+"2", ""), secret) {
			t.Errorf("%s %s: %s echoes the request", c.method, c.path, out)
		}
		if ofGo.MatchString(out) {
			t.Errorf("%s %s %.60s: %s has words of Go", c.method, c.path, c.body, out)
		}
	}
	code, out := s.do("POST", at+"/documents", ndjson, `{"id":"a","text":"t"}`+"\n"+`{"id":"b","text":"`+strings.Repeat("x ", 1<<16)+`"}`+"\n")
	if got := strings.Split(out, "\n"); code != http.StatusOK || len(got) != 3 || got[0] != `{"new":true}` || !strings.Contains(got[1], "413") {
		t.Errorf("a long line: %d %q", code, out)
	}
	if code, _ := s.do("POST", at+"/check", "text/html", "x"); code != http.StatusUnsupportedMediaType {
		t.Error(code)
	}
}

func TestTokensAllowWhatTheySay(t *testing.T) {
	tokens := new(Tokens)
	const admin, writer, reader = "admin-0123456789abcdef", "writer-0123456789abcdef", "reader-0123456789abcdef"
	if err := tokens.Set("# all\n" + admin + " admin *\n" + writer + " write a,b\n\n" + reader + " read a\n"); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Tokens: tokens})
	const body = `{"id":"1","text":"one two three four five six seven"}`
	check := func(token string, status int, method, path, body string) {
		t.Helper()
		s.token = token
		s.want(status, "", method, path, body)
	}
	check("", 200, "GET", "/healthz", "")
	check("", 200, "GET", "/readyz", "")
	check("", 401, "GET", "/metrics", "")
	check("", 401, "PUT", "/v1/collections/a", "{}")
	check("wrong-0123456789abcdef", 401, "GET", "/v1/collections", "")
	check(writer, 403, "PUT", "/v1/collections/a", "{}")
	for _, name := range []string{"a", "b", "c"} {
		check(admin, 201, "PUT", "/v1/collections/"+name, "{}")
	}
	check(admin, 200, "GET", "/metrics", "")
	if _, ok := tokens.find("bearer " + admin); !ok {
		t.Error("the name of the scheme counts by its case")
	}
	check(writer, 403, "GET", "/metrics", "")
	check(writer, 200, "POST", "/v1/collections/b/check", body)
	check(writer, 403, "POST", "/v1/collections/c/check", body)
	check(reader, 403, "POST", "/v1/collections/a/check", body)
	check(reader, 200, "POST", "/v1/collections/a/check?add=false", body)
	check(reader, 403, "POST", "/v1/collections/a/documents", body)
	check(reader, 403, "GET", "/v1/collections/b/stats", "")
	check(reader, 200, "POST", "/v1/sketch", body)
	s.want(200, `{"collections":["a"]}`, "GET", "/v1/collections", "")
	if err := tokens.Set("short read a"); err == nil || strings.Contains(err.Error(), "short read") {
		t.Error(err)
	}
	check(reader, 200, "POST", "/v1/sketch", body)
	if err := tokens.Set(admin + " read c"); err != nil {
		t.Fatal(err)
	}
	check(reader, 401, "POST", "/v1/sketch", body)
	check(admin, 403, "PUT", "/v1/collections/d", "{}")
}

func TestWhatWasReadIsAnsweredWhenTheServerEnds(t *testing.T) {
	s := start(t, Config{Dir: t.TempDir()})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", "{}")
	in, out := io.Pipe()
	defer out.Close()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/collections/c/documents", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", ndjson)
	lines := texts(50)
	go func() { _, _ = io.WriteString(out, strings.Join(lines, "\n")+"\n"+`{"id":"half`) }() // never closed
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	d := json.NewDecoder(answer.Body)
	for i := range lines {
		var v struct{ New *bool }
		if err := d.Decode(&v); err != nil || v.New == nil {
			t.Fatalf("answer %d: %v", i, err)
		}
	}
	s.server.Drain()
	var last struct{ Problem Problem }
	if err := d.Decode(&last); err != nil || last.Problem.Status != http.StatusServiceUnavailable {
		t.Fatalf("%+v, %v", last, err)
	}
	if err := d.Decode(&last); err != io.EOF {
		t.Fatal(err)
	}
	s.want(http.StatusServiceUnavailable, "", "GET", "/readyz", "")
	s.want(http.StatusServiceUnavailable, "", "POST", "/v1/collections/c/check", lines[0])
}

func TestABodyThatComesTooSlowlyIsRefused(t *testing.T) {
	s := start(t, Config{Limits: Limits{Grace: 50 * time.Millisecond}})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", "{}")
	in, out := io.Pipe()
	defer out.Close()
	r, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/v1/collections/c/check", in)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(out, `{"id`) }()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusRequestTimeout {
		t.Error(answer.Status)
	}
}

func TestMoreRequestsThanTheBudgetAreShed(t *testing.T) {
	s := start(t, Config{Limits: Limits{Reads: 1}})
	done, err := s.server.reads.take()
	if err != nil {
		t.Fatal(err)
	}
	s.want(http.StatusTooManyRequests, "", "POST", "/v1/sketch", `{"text":"a"}`)
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", "{}") // another budget
	done()
	s.want(http.StatusOK, "", "POST", "/v1/sketch", `{"text":"a"}`)
	if _, out := s.do("GET", "/metrics", "", ""); !strings.Contains(out, "alike_http_requests_shed_total 1") || !strings.Contains(out, `alike_collection_documents{collection="c"} 0`) {
		t.Error(out)
	}
}

func TestCollectionsOutliveTheServer(t *testing.T) {
	for _, durability := range []Durability{Sync, Interval} {
		c := Config{Dir: t.TempDir(), Durability: durability}
		s, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		h := httptest.NewServer(s)
		first := &service{t: t, url: h.URL}
		first.want(http.StatusCreated, "", "PUT", "/v1/collections/kept", `{"stop_words":["w1"]}`)
		first.want(http.StatusCreated, "", "PUT", "/v1/collections/gone", `{}`)
		line := texts(1)[0]
		first.want(http.StatusOK, `{"new":true}`, "POST", "/v1/collections/kept/check", line)
		first.want(http.StatusNoContent, "", "DELETE", "/v1/collections/gone", "")
		h.Close()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		second := start(t, c)
		second.want(http.StatusOK, `{"collections":["kept"]}`, "GET", "/v1/collections", "")
		second.want(http.StatusOK, line, "GET", "/v1/collections/kept/documents/d0", "")
		second.want(http.StatusNotFound, "", "GET", "/v1/collections/gone", "")
	}
}

func TestFilesOfOthersAmongCollectionsStay(t *testing.T) {
	dir := t.TempDir()
	mine := map[string]string{"photos/a.jpg": "a", "old.removed/b.txt": "b", "More photos.removed/c": "c", "elsewhere/INDEX": "d"}
	for name, content := range mine {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777), os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "old.removed has b.txt, which is no file of an index") {
		t.Errorf("a folder of somebody else: %v", err)
	}
	if err := os.Rename(filepath.Join(dir, "old.removed"), filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	s := start(t, Config{Dir: dir})
	for _, name := range []string{"photos", "old", "linked"} {
		s.want(http.StatusConflict, "", "PUT", "/v1/collections/"+name, `{}`)
	}
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/new", `{}`)
	for name, content := range mine {
		name = strings.Replace(name, "old.removed", "old", 1)
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != content {
			t.Errorf("%s has gone: %v", name, err)
		}
	}
}

func TestFingerprintsOfLinesAreThoseOfSingleTexts(t *testing.T) {
	s := start(t, Config{})
	lines := texts(30)
	for query, settings := range map[string]string{
		"preset=exlsh-word&hash=xxh3": `,"preset":"exlsh-word","hash":"xxh3"`, "": "", "ngram=2&fold=false": `,"ngram":2,"fold":false`, "scheme=fastsimhash+bits%3D128": `,"scheme":"fastsimhash bits=128"`,
	} {
		code, out := s.do("POST", "/v1/sketch?"+query, ndjson, strings.Join(lines, "\n"))
		all := strings.Split(strings.TrimSpace(out), "\n")
		if code != http.StatusOK || len(all) != len(lines) {
			t.Fatal(code, out)
		}
		for i, line := range lines {
			s.want(http.StatusOK, all[i], "POST", "/v1/sketch", strings.TrimSuffix(line, "}")+settings+"}")
		}
	}
}

// A pod of many must not keep what the others do not have.
func TestAStatelessServerHasNoCollections(t *testing.T) {
	s := start(t, Config{Stateless: true})
	s.want(http.StatusOK, "", "POST", "/v1/sketch", `{"text":"a b c"}`)
	s.want(http.StatusOK, "", "POST", "/v1/compare", `{"a":"a","b":"a"}`)
	for _, path := range []string{"/healthz", "/readyz", "/openapi.json", "/metrics"} {
		s.want(http.StatusOK, "", "GET", path, "")
	}
	for _, path := range []string{"/", "/v1/collections", "/v1/tables", "/v1/collections/c", "/page/page.js"} {
		s.want(http.StatusNotFound, "", "GET", path, "")
	}
	s.want(http.StatusNotFound, "", "PUT", "/v1/collections/c", "{}")
	s.want(http.StatusNotFound, "", "POST", "/v1/collections/c/check", `{"id":"a","text":"b"}`)
	if _, err := New(Config{Stateless: true, Dir: t.TempDir()}); err == nil {
		t.Error("a folder is taken and not used")
	}
}

func TestWhatIsTooOldForTheWindowIsToldSo(t *testing.T) {
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	s := start(t, Config{Now: func() time.Time { return now }})
	const at = "/v1/collections/c"
	s.want(http.StatusCreated, "", "PUT", at, `{"window":{"age":"1h"}}`)
	s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check", `{"id":"a","text":"the first of them","time":"2026-11-23T12:00:00Z"}`)
	s.want(http.StatusOK, `{"new":true,"late":true}`, "POST", at+"/check", `{"id":"b","text":"one that is late","time":"2026-11-23T10:00:00Z"}`)
	s.want(http.StatusUnprocessableEntity, "", "PUT", at+"/documents/b", `{"text":"one that is late","time":"2026-11-23T10:00:00Z"}`)
	s.want(http.StatusNotFound, "", "GET", at+"/documents/b", "")
	s.want(http.StatusUnprocessableEntity, "", "PUT", at+"/documents/a", `{"text":"one that is late","time":"2026-11-23T10:00:00Z"}`)
	s.want(http.StatusOK, `{"replaced":false}`, "PUT", at+"/documents/b", `{"text":"one that is not","time":"2026-11-23T11:30:00Z"}`)
	now = now.Add(2 * time.Hour)
	s.want(http.StatusOK, `{"new":true}`, "POST", at+"/check", `{"id":"a","text":"the first of them"}`)
}

// What is JSON and no object, or nearly JSON, is refused wherever an object is wanted.
func TestWhatIsNoObjectIsRefused(t *testing.T) {
	s := start(t, Config{})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", "{}")
	bodies := []string{"null", "5", "[]", `"text"`, "true", "{", `{"text":null}`, `{"id":null,"text":"t"}`, `{"id":{},"text":"t"}`, `{"id":"a","text":[]}`, "\xff", `{"id":"\ud800","text":7}`}
	for _, body := range bodies {
		for _, path := range []string{"/v1/collections/c/check", "/v1/collections/c/search", "/v1/collections/c/documents", "/v1/sketch", "/v1/compare"} {
			code, out := s.do("POST", path, jsonType, body)
			if code != http.StatusBadRequest && code != http.StatusUnprocessableEntity {
				t.Errorf("%s %s: %d %s", path, body, code, out)
			}
		}
		if code, out := s.do("PUT", "/v1/collections/d", jsonType, body); code != http.StatusBadRequest && code != http.StatusUnprocessableEntity {
			t.Errorf("settings %s: %d %s", body, code, out)
		}
	}
	for _, path := range []string{"/v1/collections/c/documents", "/v1/sketch"} {
		code, out := s.do("POST", path, ndjson, strings.Join(bodies, "\n"))
		if n := strings.Count(out, `{"problem":{`); code != http.StatusOK || n != len(bodies) {
			t.Errorf("%s: %d, %d problems of %d\n%s", path, code, n, len(bodies), out)
		}
	}
}

// fastjson takes more for a number than JSON does.
func TestWhatIsNoNumberOfJSONIsRefused(t *testing.T) {
	s := start(t, Config{})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{"fields":{"size":"number"}}`)
	for _, value := range []string{"NaN", "inf", "-Inf", "1-2", "1e", "[1,NaN]", `{"a":[-inf]}`} {
		for _, name := range []string{"size", "other", "id", "time"} {
			s.want(http.StatusUnprocessableEntity, "", "POST", "/v1/collections/c/check", fmt.Sprintf(`{"id":"a","text":"t",%q:%s}`, name, value))
		}
		s.want(http.StatusUnprocessableEntity, "", "POST", "/v1/collections/c/search", `{"text":"t","threshold":`+value+`}`)
	}
	s.want(http.StatusUnprocessableEntity, "", "POST", "/v1/collections/c/check", `{"id":"a","text":"t","size":1e999}`)
	s.want(http.StatusUnprocessableEntity, "", "POST", "/v1/collections/c/search", `{"text":"t","threshold":-3}`)
	s.want(http.StatusOK, `{"new":true}`, "POST", "/v1/collections/c/check", `{"id":"a","text":"t","size":-1.5e3,"other":[0.25]}`)
	s.want(http.StatusOK, `{"id":"a","text":"t","size":-1.5e3,"other":[0.25]}`, "GET", "/v1/collections/c/documents/a", "")
}

// Bodies may have raw control characters, wrong escapes and bytes that are no UTF-8, which a lenient reader takes.
func TestEveryAnswerIsJSONWhateverABodyHas(t *testing.T) {
	s := start(t, Config{})
	const at, text = "/v1/collections/c", "snow has closed the pass above the lake for a third day"
	ask := func(method, path, body string) string {
		t.Helper()
		code, out := s.do(method, path, jsonType, body)
		if code >= http.StatusInternalServerError || !isJSON([]byte(out)) || !json.Valid([]byte(out)) {
			t.Errorf("%s %s %q: %d %q", method, path, body, code, out)
		}
		return out
	}
	ask("PUT", at, `{"threshold":0.5,"ngram":2,"fields":{"lang":"string"}}`)
	for i, odd := range []string{"\x01", "\x1b[31m", "\xff\xfe", "\x7f\u009b", `\x`, `\u12`, `\ud800`, "a\tb\n"} {
		id, own := fmt.Sprint("id", i), strings.ReplaceAll(text, " ", fmt.Sprint(i, " "))
		for _, body := range []string{
			`{"id":"` + id + `","text":"` + own + odd + `","evidence":true,"lang":"` + odd + `","m` + odd + `":{"` + odd + `":["` + odd + `",1.50]}}`,
			`{"id":"` + odd + `","text":"` + text + `"}`,
			`{"id":"` + odd + odd + `","text":"` + text + ` running","evidence":true}`,
		} {
			ask("POST", at+"/check", body)
		}
		if got := ask("GET", at+"/documents/"+id, ""); !strings.Contains(got, `,1.50]}`) {
			t.Errorf("%q: %s", odd, got)
		}
		ask("POST", at+"/search", `{"text":"`+text+odd+`","evidence":true,"passages":true}`)
		ask("POST", at+"/search", `{"text":"`+text+`","filter":{"lang":"`+odd+`","no`+odd+`":1}}`)
		ask("PUT", "/v1/collections/d", `{"tokens":"`+odd+`","n`+odd+`":1}`)
		ask("POST", "/v1/sketch", `{"text":"`+text+odd+`","id":"`+odd+`"}`)
		ask("POST", "/v1/compare", `{"a":"`+text+odd+`","b":"`+odd+`"}`)
		s.want(http.StatusOK, "", "POST", at+"/search", `{"text":"`+own+`"}`)
	}
	if got := string(metadata([][]byte{nil, []byte("{\"a\":\"\x01\",\"b\":\"\xff\",\"c\":[1.50]}")})); got != `{"a":"\u0001","b":"\ufffd","c":[1.50]}` {
		t.Errorf("metadata of an earlier version: %s", got)
	}
}

func TestBodiesWithAByteOrderMarkAreDecoded(t *testing.T) {
	s := start(t, Config{})
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", "\ufeff{}")
	_, plain := s.do("POST", "/v1/sketch", plainText, "é ü")
	s.want(http.StatusOK, `{"new":true}`, "POST", "/v1/collections/c/check", `{"id":"0","text":"é ü"}`)
	for i, e := range []bom.Encoding{bom.UTF8, bom.UTF16LE, bom.UTF16BE} {
		encoded := func(text string) string { return string(e.AppendBack(nil, []byte("\ufeff"+text))) }
		line := fmt.Sprintf(`{"id":"%d","text":"é ü"}`, i+1)
		answer := `{"new":false,"duplicate_of":"0","similarity":1.000000}`
		s.want(http.StatusOK, answer, "POST", "/v1/collections/c/check", encoded(line))
		for body, want := range map[string]string{line: answer + "\n", line + "\n" + line + "\n": answer + "\n" + answer + "\n", "": "", "{": `{"problem":`} {
			if code, out := s.do("POST", "/v1/collections/c/documents", ndjson, encoded(body)); code != http.StatusOK || want != out && !(want == `{"problem":` && strings.HasPrefix(out, want)) {
				t.Errorf("%v, lines %q: %d %s", e, body, code, out)
			}
		}
		if _, out := s.do("POST", "/v1/sketch", plainText, encoded("é ü")); out != plain {
			t.Errorf("%v: another fingerprint", e)
		}
	}
}

// brokenWork is work whose preparation has a bug.
type brokenWork struct{}

func (brokenWork) prepare([]byte)                    { panic("a bug") }
func (brokenWork) decide() error                     { return nil }
func (brokenWork) answer(dst []byte) ([]byte, error) { return dst, nil }

func TestABugInTheLinesOfARequestEndsOnlyThatRequest(t *testing.T) {
	var limits Limits
	limits.setDefaults()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := streamLines(w, r, lines{r.Context(), &limits, make(chan struct{}, 1)}, func() lineWork { return brokenWork{} }, func() error { return nil })
		if err == nil || !strings.Contains(err.Error(), "a bug") {
			t.Error(err)
		}
	}))
	defer h.Close()
	answer, err := http.Post(h.URL, ndjson, strings.NewReader("{}\n"))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
}
