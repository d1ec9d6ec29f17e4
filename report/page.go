package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"

	"github.com/dustin/go-humanize"

	"github.com/alike-dev/alike/passage"
)

// partsHTML are templates that several pages have.
//
//go:embed parts.html
var partsHTML string

// parsed parses a page that is one file, without requests.
func parsed(name string, functions template.FuncMap, html string) *template.Template {
	return template.Must(template.New(name).Funcs(functions).Parse(html + partsHTML))
}

// still are the functions of a page without a script.
func still() template.FuncMap {
	return template.FuncMap{"comma": humanize.Comma, "share": share, "style": func() template.CSS { return template.CSS(sharedStyle) }}
}

// plotted is the style of a page with plots.
func plotted() template.CSS { return template.CSS(sharedStyle + plotStyle) }

// scripted are the functions of a page whose policy lets only the given script run.
func scripted(script string) template.FuncMap {
	sum := sha256.Sum256([]byte(script))
	f := still()
	f["style"] = plotted
	f["script"] = func() template.JS { return template.JS(script) }
	f["scriptHash"] = func() string { return "sha256-" + base64.StdEncoding.EncodeToString(sum[:]) }
	return f
}

// common are passages that many documents have.
type common struct {
	Passages []commonPassage
	Sampled  int64  // documents in which they were looked for
	Of       string // what these are
	Least    int    // documents that have a passage
}

type commonPassage struct {
	Texts int64
	Words int
	Text  string // the beginning
}

func newCommon(of string, sampled int, passages []passage.Repeated) common {
	c := common{Sampled: int64(sampled), Of: of, Least: passage.Often(sampled)}
	for _, p := range passages {
		c.Passages = append(c.Passages, commonPassage{int64(p.Texts), p.Tokens, cut(string(p.Text), shownPassage)})
	}
	return c
}
