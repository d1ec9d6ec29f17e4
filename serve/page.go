package serve

import (
	"bytes"
	"encoding/base64"
	"errors"
	"html"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/passage"
	"github.com/alike-dev/alike/report"
	"github.com/alike-dev/alike/text"
)

// show shows the view of the query.
func (c pageCall) show() error {
	q := c.r.URL.Query()
	v := view{collection: q.Get("collection"), id: q.Get("id"), with: q.Get("with"), threshold: q.Get("threshold")}
	var err error
	if packed := q.Get("t"); packed != "" && v.id == "" {
		v.text, err = unpack(packed)
	}
	return c.sendView(&v, err)
}

// ask takes a form and leads to the view of its answer, or shows it if there can be no link to it.
func (c pageCall) ask() error {
	var v view
	err := readBody(c.w, c.r, &c.config.Limits, func(body []byte) (err error) {
		c.r.Body = io.NopCloser(bytes.NewReader(body))
		if err = c.r.ParseMultipartForm(c.config.Limits.Body); errors.Is(err, http.ErrNotMultipart) {
			err = nil // a form without a file
		}
		if err != nil {
			return &Problem{Status: http.StatusBadRequest, Detail: "the form cannot be read"}
		}
		f := c.r.PostForm
		v = view{collection: f.Get("collection"), id: f.Get("id"), with: f.Get("with"), threshold: f.Get("threshold")}
		v.text = strings.ReplaceAll(f.Get("text"), "\r\n", "\n") // as forms send line ends
		if c.r.MultipartForm != nil {
			err = v.takeFile(c.r.MultipartForm.File["file"])
		}
		if v.id != "" {
			v.text = ""
		}
		return err
	})
	if query, ok := v.query(); ok && err == nil {
		http.Redirect(c.w, c.r, "/?"+query, http.StatusSeeOther)
		return nil
	}
	return c.sendView(&v, err)
}

// sendView sends the page of a view, or what is wrong with it.
func (c pageCall) sendView(v *view, err error) error {
	c.useCookie()
	p := &report.ServicePage{SignedIn: c.config.Tokens != nil}
	if err == nil {
		err = c.need(ReadAny)
	}
	status := http.StatusOK
	if err == nil {
		err = c.fill(p, v)
	}
	if err != nil {
		problem, unexpected := asProblem(err)
		if unexpected {
			return err
		}
		status, p.Problem = problem.Status, strings.TrimSpace(problem.Field+" "+problem.Detail)
		if status == http.StatusUnauthorized {
			p.Login, p.SignedIn = true, false
			p.Next, _ = v.query()
		}
	}
	return c.sendPage(status, p)
}

func (c pageCall) fill(p *report.ServicePage, v *view) error {
	for _, name := range c.store.names() {
		if c.config.Tokens.allow(c.r, Read, name) != nil {
			continue
		}
		if len(p.Collections) == mostListed {
			p.CollectionsLeft++
			continue
		}
		of, done, err := c.store.use(name)
		if err != nil {
			continue // removed meanwhile
		}
		s := of.stats(c.config.Durability)
		done()
		p.Collections = append(p.Collections, report.ServiceCollection{Name: name, Documents: s.Documents, Checked: s.Checked, Duplicates: s.Duplicates})
	}
	if v.collection == "" {
		return nil
	}
	if err := c.config.Tokens.allow(c.r, Read, v.collection); err != nil {
		return err
	}
	of, done, err := c.store.use(v.collection)
	if err != nil {
		return err
	}
	defer done()
	return (&shown{of, p, v}).fill(c.config.Durability)
}

func (c *shown) fill(durability Durability) error {
	p, v, s := c.page, c.view, c.stats(durability)
	p.Name, p.Recipe, p.Rule = c.name, s.Recipe, ruleOf(c.index.Options())
	p.Counters = []report.ServiceCounter{
		{Name: "documents", Label: "documents", Value: s.Documents}, {Name: "checked", Label: "checked", Value: s.Checked},
		{Name: "added", Label: "added", Value: s.Added}, {Name: "duplicates", Label: "duplicates", Value: s.Duplicates},
		{Name: "expired", Label: "expired", Value: s.Expired},
	}
	if len(html.EscapeString(v.text)) <= mostArea {
		p.Text = v.text
	}
	asked, form := []byte(v.text), "pasted"
	if v.id != "" {
		d, ok, err := c.index.Get([]byte(v.id))
		if err != nil {
			return err
		}
		if !ok {
			return errNoDocument
		}
		if d.Text == nil {
			return unprocessable(idField, "is that of a document without a text: the collection keeps none")
		}
		asked, form, p.Meta = d.Text, "opened", metaOf(d.Columns)
	}
	if len(asked) == 0 && v.id == "" {
		c.repeated()
		return nil
	}
	matches, err := c.find(&searching{text: asked, o: index.SearchOptions{Top: mostMatches + 1}})
	if err != nil {
		return err
	}
	matches = slices.DeleteFunc(matches, func(m index.Match) bool { return v.id != "" && string(m.ID) == v.id })
	p.More = len(matches) >= mostMatches
	p.Asked, p.ID, p.Form = true, v.id, form
	least, err := c.slider()
	if err != nil {
		return err
	}
	if q, ok := v.query(); ok && (v.id != "" || p.Text != "") {
		p.Link = "/?" + q
	}
	chosen := c.rows(matches, least)
	if err := c.grouped(matches, least); err != nil {
		return err
	}
	return c.pair(asked, chosen, matches)
}

// slider fills in the threshold, and returns it. It is 0 where a collection has none between 0 and 1.
func (c *shown) slider() (least float64, err error) {
	p, v := c.page, c.view
	r := c.index.Options().Recipe
	if !r.BySets() || r.Threshold().Measure() == measure.Overlap {
		return 0, nil
	}
	floor := r.Threshold().Float()
	least = floor
	if v.threshold != "" {
		if least, err = strconv.ParseFloat(v.threshold, 64); err != nil || !(least >= 0 && least <= 1) {
			return 0, unprocessable("threshold", "takes a number from 0 to 1")
		}
		least = max(least, floor)
	}
	p.Slider, p.Floor, p.Least = true, strconv.FormatFloat(floor, 'f', -1, 64), strconv.FormatFloat(least, 'f', -1, 64)
	return least, nil
}

// rows fills in the list of documents, and returns the id of the one to be shown beside, "" for none.
func (c *shown) rows(matches []index.Match, least float64) (chosen string) {
	p, v := c.page, c.view
	chosen = v.with
	if chosen == "" && len(matches) > 0 && matches[0].Similarity >= least {
		chosen = string(matches[0].ID)
	}
	room := mostRows
	for _, m := range matches {
		p.Found = append(p.Found, m.Similarity)
		id := string(m.ID)
		own := view{collection: c.name, id: id, threshold: v.threshold}
		query, _ := own.query()
		row := report.ServiceRow{
			ID: id, Label: label(id), Similarity: asShare(m.Similarity), Open: "/?" + query,
			Hidden: m.Similarity < least, Chosen: id == chosen,
		}
		if room -= len(query) + len(html.EscapeString(id+row.Label)) + 200; room < 0 {
			p.RowsLeft++
			continue
		}
		p.Rows = append(p.Rows, row)
	}
	return chosen
}

// pair fills in the text and the document beside it.
func (c *shown) pair(asked []byte, id string, matches []index.Match) error {
	if id == "" || c.index.Options().Keep != index.KeepText {
		return nil
	}
	d, ok, err := c.index.Get([]byte(id))
	if err != nil || !ok {
		return err
	}
	a, b := asked[:min(len(asked), mostLooked)], d.Text[:min(len(d.Text), mostLooked)]
	spans, err := c.spansToShow(a, b)
	if err != nil {
		return err
	}
	pair := &report.ServicePair{Label: label(id), Meta: metaOf(d.Columns), Passages: len(spans)}
	pair.Left, pair.Right = report.Align(a, b, spans, mostPiece)
	if at := slices.IndexFunc(matches, func(m index.Match) bool { return string(m.ID) == id }); at >= 0 {
		pair.Similarity = asShare(matches[at].Similarity)
	}
	c.page.Pair = pair
	return nil
}

// leastWords is how many words make a passage where the recipe has no shingles.
const leastWords = 3

// spansToShow returns the passages that two texts share: those of evidence, where the collection has them.
func (c *shown) spansToShow(a, b []byte) ([]passage.Span, error) {
	if c.hasPassages() {
		return c.passages(a, b)
	}
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		return nil, err
	}
	return passage.InTexts(tokenizer, a, b, leastWords), nil
}

// pageCall is for the page, with the rights of its cookie.
type pageCall struct{ *call }

func viewing(s *Server) *budget { return s.pages }

func (c pageCall) sendPage(status int, p *report.ServicePage) error {
	var out bytes.Buffer
	if err := report.Service(&out, p); err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", contentSecurity)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	c.w.WriteHeader(status)
	_, err := c.w.Write(out.Bytes())
	return err
}

// tokenCookie has the token of the page. The page reads it only, so that it needs no other defence against requests
// from other sites than that browsers do not send it with them.
const tokenCookie = "alike_token"

// useCookie lets a request have the rights of the token in its cookie.
func (c pageCall) useCookie() {
	cookie, err := c.r.Cookie(tokenCookie)
	if err != nil || c.r.Header.Get("Authorization") != "" {
		return
	}
	token, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return
	}
	c.r = c.r.Clone(c.r.Context())
	c.r.Header.Set("Authorization", "Bearer "+string(token))
}

// cookie returns the cookie of a token; "" removes it.
func (c pageCall) cookie(token string) *http.Cookie {
	k := &http.Cookie{
		Name: tokenCookie, Value: base64.RawURLEncoding.EncodeToString([]byte(token)), Path: "/",
		HttpOnly: true, Secure: c.r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		k.MaxAge = -1
	}
	return k
}

// mostForm is the largest form of a token and a view, in bytes.
const mostForm = 64 << 10

// login keeps a token that is right in a cookie.
func (c pageCall) login() error {
	if err := http.NewCrossOriginProtection().Check(c.r); err != nil {
		return &Problem{Status: http.StatusForbidden, Detail: "the form is that of another site"}
	}
	limits := c.config.Limits
	limits.Body = mostForm
	var form url.Values
	err := readBody(c.w, c.r, &limits, func(body []byte) (err error) {
		form, err = url.ParseQuery(string(body))
		if err != nil {
			return &Problem{Status: http.StatusBadRequest, Detail: "the form cannot be read"}
		}
		return nil
	})
	if err != nil {
		return err
	}
	next, err := url.ParseQuery(form.Get("next"))
	if err != nil {
		next = nil
	}
	c.r = c.r.Clone(c.r.Context())
	c.r.Header.Set("Authorization", "Bearer "+form.Get("token"))
	if err := c.need(ReadAny); err != nil {
		p := &report.ServicePage{Login: true, Next: next.Encode(), Problem: "This is not a valid token."}
		return c.sendPage(http.StatusUnauthorized, p)
	}
	http.SetCookie(c.w, c.cookie(form.Get("token")))
	http.Redirect(c.w, c.r, "/?"+next.Encode(), http.StatusSeeOther)
	return nil
}

func (c pageCall) logout() error {
	if err := http.NewCrossOriginProtection().Check(c.r); err != nil {
		return &Problem{Status: http.StatusForbidden, Detail: "the form is that of another site"}
	}
	http.SetCookie(c.w, c.cookie(""))
	http.Redirect(c.w, c.r, "/", http.StatusSeeOther)
	return nil
}

// counters answers the statistics of a collection, for the script of the page.
func (c pageCall) counters() error {
	c.useCookie()
	name := c.r.URL.Query().Get("collection")
	if err := c.config.Tokens.allow(c.r, Read, name); err != nil {
		return err
	}
	of, done, err := c.store.use(name)
	if err != nil {
		return err
	}
	defer done()
	return c.sendJSON(http.StatusOK, of.stats(c.config.Durability))
}

func (c pageCall) style() error {
	return c.sendAsset("text/css; charset=utf-8", report.ServiceStyle())
}

func (c pageCall) script() error {
	return c.sendAsset("text/javascript; charset=utf-8", report.ServiceScript())
}

func (c pageCall) sendAsset(kind, body string) error {
	c.w.Header().Set("Content-Type", kind)
	c.w.Header().Set("Cache-Control", "no-cache")
	_, err := io.WriteString(c.w, body)
	return err
}
