package write

import (
	"encoding/json"
	"io"
)

// A Page shows people what a run has done. Its data are stored beside it, so that it can be made again without the
// documents.
type Page struct {
	kind  string
	data  json.RawMessage
	write func(io.Writer) error
}

// StoredPage is what ReportData holds.
type StoredPage struct {
	Page    string          `json:"page"` // which one
	Version int             `json:"version"`
	Data    json.RawMessage `json:"data"`
}

// pageVersion changes with what the data of a page mean.
const pageVersion = 1

// NewPage returns a page that a function writes from data. It is written from the data as they are stored, so that what
// is made again has the same bytes. Cost: O(data).
func NewPage[T any](kind string, data *T, write func(io.Writer, *T) error) (*Page, error) {
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	p := &Page{kind: kind, data: raw}
	stored := new(T)
	if err := json.Unmarshal(raw, stored); err != nil {
		return nil, err
	}
	p.write = func(w io.Writer) error { return write(w, stored) }
	return p, nil
}

func (p *Page) store(w io.Writer) error {
	return json.NewEncoder(w).Encode(StoredPage{p.kind, pageVersion, p.data})
}

// Known tells whether this program makes pages of these data.
func (p *StoredPage) Known(kind string) bool { return p.Page == kind && p.Version == pageVersion }
