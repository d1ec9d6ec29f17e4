package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/alike-dev/alike/decontaminate"
	"github.com/alike-dev/alike/text"
)

//go:embed contamination.html
var contaminationHTML string

var contaminationPage = sync.OnceValue(func() *template.Template {
	return parsed("contamination", still(), contaminationHTML)
})

// contamination is the data of the page of a decontamination.
type contamination struct {
	*decontaminate.Page
	Sets     []setRow
	Examples []place
}

type setRow struct {
	Set          string
	Items, Found int64
}

// place is an item beside the place where it was found.
type place struct {
	decontaminate.Example
	Before                string
	ItemParts, FoundParts []part
}

// Contamination writes a page that shows which items of evaluation sets were found, and beside them the places where
// they stand. It can be decontaminate.Config.Page. O(page), whose size does not grow with the corpus.
func Contamination(w io.Writer, p *decontaminate.Page) error {
	tokenizer, err := text.New(text.Options{StripDiacritics: true})
	if err != nil {
		return err
	}
	page := contamination{Page: p}
	for _, s := range p.Details.Sets {
		page.Sets = append(page.Sets, setRow{s.Set, int64(s.Items), int64(s.Found)})
	}
	for _, e := range p.Examples {
		x := place{Example: e, Before: strings.ToValidUTF8(string(e.Excerpt[:e.Lead]), "\uFFFD")}
		x.ItemParts, x.FoundParts = differences(tokenizer, e.ItemText, e.Excerpt[e.Lead:])
		page.Examples = append(page.Examples, x)
	}
	return contaminationPage().Execute(w, &page)
}
