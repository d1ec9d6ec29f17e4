package serve

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/report"
)

const mostPage = 150_000 // bytes of a page

// browser asks for pages as a browser without JavaScript does.
type browser struct {
	t      *testing.T
	client *http.Client
	url    string
}

func newBrowser(t *testing.T, s *service) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar}, s.url}
}

// open returns a page and its address after redirections, and checks what all pages have in common.
func (b *browser) open(status int, r *http.Request) (page, address string) {
	b.t.Helper()
	r.Header.Set("Referer", `http://x/"><script>alert(1)</script>`)
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	csp := answer.Header.Get("Content-Security-Policy")
	if answer.StatusCode != status || !strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; style-src 'self';") || strings.Contains(csp, "unsafe") {
		b.t.Fatalf("%s: %d, policy %q, want %d: %.300s", r.URL, answer.StatusCode, csp, status, out)
	}
	if len(out) > mostPage {
		b.t.Errorf("%s: %d bytes", r.URL, len(out))
	}
	b.sound(string(out))
	return string(out), answer.Request.URL.String()
}

func (b *browser) get(status int, address string) (page, at string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.open(status, r)
}

func (b *browser) post(status int, path string, form url.Values) (page, at string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return b.open(status, r)
}

// The elements and attributes that the page has of itself.
var (
	pageElements = strings.Fields(`html head meta title link script body header h1 h2 h3 nav a span form button main p input label table tr th td
		svg rect title line dl div dt dd textarea output ol li bdi section kbd mark pre code`)
	pageAttributes = strings.Fields(`lang charset name content rel href src defer method action type value required autocomplete class
		viewBox preserveAspectRatio role aria-label aria-current width height x y x1 x2 y1 y2 id enctype dir for form min max step
		data-collection data-counter data-all data-similarity hidden tabindex`)
)

// sound checks that a page has only elements, attributes and addresses of its own.
func (b *browser) sound(page string) {
	b.t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			b.t.Fatalf("%v in %s", err, page)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains(pageElements, e.Name.Local) {
			b.t.Errorf("the page has an element %s", e.Name.Local)
		}
		for _, a := range e.Attr {
			if !slices.Contains(pageAttributes, a.Name.Local) {
				b.t.Errorf("%s has an attribute %s", e.Name.Local, a.Name.Local)
			}
			local := strings.HasPrefix(a.Value, "/") && !strings.HasPrefix(a.Value, "//") || strings.HasPrefix(a.Value, "#")
			if slices.Contains([]string{"href", "src", "action"}, a.Name.Local) && !local {
				b.t.Errorf("%s leads to %s", e.Name.Local, a.Value)
			}
			if e.Name.Local == "script" && a.Name.Local == "src" && a.Value != "/page/page.js" {
				b.t.Errorf("a script of %s", a.Value)
			}
		}
	}
}

// payloads are texts that would run as a script in a page that does not escape them.
func payloads(t *testing.T) (all []string) {
	t.Helper()
	content, err := os.ReadFile("testdata/markup.json")
	if err != nil {
		t.Fatal(err)
	}
	var frames []string
	if err := json.Unmarshal(content, &frames); err != nil {
		t.Fatal(err)
	}
	for _, frame := range frames {
		for _, run := range []string{"alert(1)", "alert`1`", "fetch('//x')"} {
			all = append(all, strings.ReplaceAll(frame, "%s", run))
		}
	}
	return all
}

const pageWords = " the pass above the lake was closed for a third day by snow and the road to the village is open for cars with chains only"

func TestThePageShowsAttacksAsText(t *testing.T) {
	s := start(t, Config{})
	b := newBrowser(t, s)
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{"threshold":0.5,"ngram":2}`)
	var near string
	for i, attack := range payloads(t) {
		for _, id := range []string{attack, attack + " again"} {
			doc, err := json.Marshal(map[string]string{"text": attack + pageWords, attack: attack})
			if err != nil {
				t.Fatal(err)
			}
			s.want(http.StatusOK, "", "PUT", "/v1/collections/c/documents/"+url.PathEscape(id), string(doc))
		}
		near = attack
		if i%8 != 0 {
			b.get(http.StatusNotFound, b.url+"/?"+url.Values{"collection": {attack}, "threshold": {attack}}.Encode())
			continue
		}
		page, _ := b.post(http.StatusOK, "/", url.Values{"collection": {"c"}, "text": {attack + pageWords}, "with": {attack}})
		if !strings.Contains(page, `id="matches"`) || !strings.Contains(page, `id="right"`) {
			t.Errorf("%s: nothing is found", attack)
		}
		b.get(http.StatusOK, b.url+"/?"+url.Values{"collection": {"c"}, "id": {attack}, "with": {attack + " again"}}.Encode())
		b.get(http.StatusUnprocessableEntity, b.url+"/?"+url.Values{"collection": {"c"}, "id": {attack}, "threshold": {attack}}.Encode())
		b.get(http.StatusUnprocessableEntity, b.url+"/?"+url.Values{"collection": {"c"}, "t": {attack}}.Encode())
	}
	b.get(http.StatusOK, b.url+"/?"+url.Values{"collection": {"c"}, "id": {near}}.Encode())
}

func TestAViewOfThePageHasALinkThatReproducesIt(t *testing.T) {
	s := start(t, Config{})
	b := newBrowser(t, s)
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{"threshold":0.5,"ngram":2}`)
	s.want(http.StatusOK, "", "PUT", "/v1/collections/c/documents/a", `{"text":"one`+pageWords+`"}`)
	s.want(http.StatusOK, "", "PUT", "/v1/collections/c/documents/b", `{"text":"one two three four five`+pageWords+`"}`)
	for name, form := range map[string]url.Values{
		"text":      {"text": {"a line\r\nand" + pageWords}},
		"threshold": {"text": {"one" + pageWords}, "threshold": {"0.97"}},
		"with":      {"text": {"one" + pageWords}, "with": {"b"}},
		"document":  {"id": {"a"}, "threshold": {"0.6"}, "with": {"b"}},
	} {
		form.Set("collection", "c")
		page, at := b.post(http.StatusOK, "/", form)
		again, _ := newBrowser(t, s).get(http.StatusOK, at)
		if page != again || !strings.Contains(page, `id="link"`) || !strings.Contains(at, "?collection=c&") {
			t.Errorf("%s: the view of %s differs", name, at)
		}
	}
	page, _ := b.post(http.StatusOK, "/", url.Values{"collection": {"c"}, "text": {"one" + pageWords}, "threshold": {"0.99"}})
	if !strings.Contains(page, `>1</output> of 2 found`) || strings.Count(page, " hidden>") != 1 {
		t.Errorf("one of two is above 0.99: %s", page)
	}
	for _, mark := range []string{`class="same" id="a1" href="#b1"`, `class="same" id="b1" href="#a1"`} {
		if !strings.Contains(page, mark) {
			t.Errorf("there is no %s", mark)
		}
	}
}

func TestThePageTellsClusters(t *testing.T) {
	s := start(t, Config{})
	b := newBrowser(t, s)
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{"threshold":0.5,"ngram":2}`)
	for i, text := range []string{"", " and so on", " and so on and on", " for ever"} {
		s.want(http.StatusOK, "", "PUT", "/v1/collections/c/documents/"+string("abcd"[i]), `{"text":"the road is open for cars with chains`+text+`"}`)
	}
	for i := range 3 {
		s.want(http.StatusOK, "", "POST", "/v1/collections/c/check", fmt.Sprintf(`{"id":"e%d","text":"the road is open for cars with chains"}`, i))
	}
	s.want(http.StatusOK, "", "POST", "/v1/collections/c/documents", `{"id":"f","text":"the road is open for cars with chains"}`)
	cells := func(page string) string { return strings.Join(strings.Fields(tags.ReplaceAllString(page, " ")), " ") }
	page, _ := b.get(http.StatusOK, b.url+"/?collection=c")
	if text := cells(page); !strings.Contains(text, "weakest link a 5 1.0000 1.0000") {
		t.Errorf("repeated: %s", text)
	}
	// b and c share 10 of 12 pairs of words, b and d 7 of 12, c and d 7 of 14; a is like d most.
	for least, want := range map[string]string{"0.5": "d 3 0.6389 0.5833", "0.58": "d 3 0.7083 0.5833"} {
		page, _ = b.get(http.StatusOK, b.url+"/?collection=c&id=a&threshold="+least)
		if text := cells(page); !strings.Contains(text, "weakest link "+want) {
			t.Errorf("above %s: %s", least, text)
		}
	}
	if page, _ = b.get(http.StatusOK, b.url+"/?collection=c&id=a&threshold=0.6"); strings.Contains(page, "weakest link") {
		t.Error("b and d are no cluster above 0.6")
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

// What comes often is kept however many other documents have a duplicate each.
func TestTheMostRepeatedDocumentsAreNotForgotten(t *testing.T) {
	var r repeats
	for i := range 5 * mostRepeats {
		r.add(&index.Verdict{Of: fmt.Append(nil, "rare ", i), Similarity: 0.5})
		if i%100 == 0 {
			r.add(&index.Verdict{Of: []byte("often"), Similarity: 1 - float64(i%200)/400})
			r.add(&index.Verdict{Of: []byte("new"), New: true})
		}
	}
	first := r.first(3)
	if o := first[0]; o.id != "often" || o.duplicates != 205 || o.least != 0.75 || first[1].duplicates != 1 || len(r.of) > mostRepeats {
		t.Errorf("%+v of %d", first, len(r.of))
	}
}

func TestALargeTextFitsIntoThePage(t *testing.T) {
	s := start(t, Config{})
	b := newBrowser(t, s)
	s.want(http.StatusCreated, "", "PUT", "/v1/collections/c", `{"threshold":0.5,"ngram":2}`)
	var words strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&words, `"w%d" <`, i*i%100_003)
	}
	doc, err := json.Marshal(map[string]string{"text": words.String(), "meta": strings.Repeat(`"<`, 50_000)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 150 {
		id := url.PathEscape(strings.Repeat(`"`, 1000) + fmt.Sprint(i))
		s.want(http.StatusOK, "", "PUT", "/v1/collections/c/documents/"+id, string(doc))
		if i >= mostListed {
			continue
		}
		s.want(http.StatusCreated, "", "PUT", fmt.Sprintf("/v1/collections/c%d%s", i, strings.Repeat("x", 50)), `{"threshold":0.5}`)
	}
	page, at := b.post(http.StatusOK, "/", url.Values{"collection": {"c"}, "text": {words.String()}})
	if strings.Contains(page, `id="link"`) || strings.Contains(at, "?") || !strings.Contains(page, "more) …") || !strings.Contains(page, "that are less alike") {
		t.Errorf("a long text: at %s", at)
	}
}

func TestThePageAsksForATokenAndKeepsItFromScripts(t *testing.T) {
	tokens := new(Tokens)
	if err := tokens.Set("reader-of-c-0123456789 read c\nadmin-0123456789abcdef admin *"); err != nil {
		t.Fatal(err)
	}
	s := start(t, Config{Tokens: tokens})
	s.token = "admin-0123456789abcdef"
	for _, name := range []string{"c", "other"} {
		s.want(http.StatusCreated, "", "PUT", "/v1/collections/"+name, `{"threshold":0.5}`)
	}
	b := newBrowser(t, s)
	page, _ := b.get(http.StatusUnauthorized, b.url+"/?collection=c")
	if !strings.Contains(page, `name="token"`) || !strings.Contains(page, `value="collection=c"`) || strings.Contains(page, "documents") {
		t.Errorf("no form for a token: %s", page)
	}
	b.post(http.StatusUnauthorized, "/page/login", url.Values{"token": {"wrong-0123456789abcdef"}})
	page, at := b.post(http.StatusOK, "/page/login", url.Values{"token": {"reader-of-c-0123456789"}, "next": {"collection=c"}})
	if !strings.HasSuffix(at, "/?collection=c") || !strings.Contains(page, "Sign out") || strings.Contains(page, "other") || strings.Contains(page, "0123456789") {
		t.Errorf("signed in, at %s: %s", at, page)
	}
	b.get(http.StatusForbidden, b.url+"/?collection=other")
	if code, _ := b.plain("GET", "/page/counters?collection=c"); code != http.StatusOK {
		t.Errorf("counters: %d", code)
	}
	if code, _ := b.plain("GET", "/v1/collections/c"); code != http.StatusUnauthorized {
		t.Errorf("the API takes the cookie: %d", code)
	}
	b.post(http.StatusUnauthorized, "/page/logout", nil)

	c := pageCall{&call{r: &http.Request{}}}
	for _, part := range []string{"HttpOnly", "SameSite=Strict"} {
		if !strings.Contains(c.cookie("x").String(), part) {
			t.Errorf("the cookie is not %s", part)
		}
	}
}

// plain requests what is no page.
func (b *browser) plain(method, path string) (status int, header http.Header) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	answer, err := b.client.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode, answer.Header
}

func TestTheScriptOfThePageIsSmallAndSafe(t *testing.T) {
	b := newBrowser(t, start(t, Config{}))
	for path, kind := range map[string]string{"/page/page.js": "text/javascript", "/page/page.css": "text/css"} {
		if code, header := b.plain("GET", path); code != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %v", path, code, header)
		}
	}
	script := report.ServiceScript()
	if len(script) > 15<<10 {
		t.Errorf("the script has %d bytes", len(script))
	}
	for _, sink := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("} {
		if strings.Contains(script, sink) {
			t.Errorf("the script has %s", sink)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add("")
	f.Add(pack("a text"))
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, packed string) {
		text, err := unpack(packed)
		if err != nil {
			return
		}
		if again, err := unpack(pack(text)); err != nil || again != text {
			t.Errorf("%q: %q, %v", text, again, err)
		}
	})
}
