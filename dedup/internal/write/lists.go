package write

import (
	"context"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/doctable"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/tagging"
	"github.com/alike-dev/alike/measure"
)

// Rows writes a CSV file with a header. fill calls write for each row.
func (o *Folder) Rows(name string, header []string, fill func(write func(row ...string)) error) error {
	return o.writeFile(name, func(w io.Writer) error {
		rows := csv.NewWriter(w)
		_ = rows.Write(header) // Flush returns its error
		if err := fill(func(row ...string) { _ = rows.Write(row) }); err != nil {
			return err
		}
		rows.Flush()
		if err := rows.Error(); err != nil {
			return outputError(err)
		}
		return nil
	})
}

// writeRemoved writes removed.csv: id,kept_id,similarity in input order. Where records are tagged none is removed.
func (o *Options) writeRemoved(ctx context.Context, to *Folder) error {
	t, c := o.Table, o.Clusters
	return to.Rows(RemovedFile, []string{"id", "kept_id", "similarity"}, func(write func(row ...string)) error {
		if o.Tags != nil {
			return nil
		}
		removed, kept := t.Scanner(), doctable.Namer{Cursor: t.Cursor()}
		similarities := extsort.NewLookup(c.Similarities)
		known := newKnownRows(t, write)
		err := c.Removed.Visit(func(e extsort.Entry) error {
			if err := known.upTo(uint32(e.Key)); err != nil {
				return err
			}
			similarity := 1.0 // a copy
			if bits, ok := similarities.Find(e.Key); ok {
				similarity = math.Float64frombits(bits)
			}
			write(removed.ID(uint32(e.Key)), kept.ID(uint32(e.Value)), string(measure.AppendSimilarity(nil, similarity)))
			return errors.Join(removed.Err, kept.Err, ctx.Err())
		})
		if err == nil {
			err = known.upTo(uint32(t.Docs))
		}
		return errors.Join(err, similarities.Err(), similarities.Close())
	})
}

// knownRows writes the rows of documents that are like one of NewTo.Known: their values are the
// similarity, eight bytes, and the name of that document.
type knownRows struct {
	t      *doctable.Table
	c      *doctable.Cursor
	labels map[string]bool // of the sources
	doc    uint32          // the next one
	write  func(row ...string)
}

func newKnownRows(t *doctable.Table, write func(row ...string)) *knownRows {
	k := &knownRows{t: t, c: t.Scanner(), labels: map[string]bool{}, write: write}
	for i := range t.Sources {
		k.labels[t.Sources[i].Label()] = true
	}
	return k
}

// isPlace tells whether a name has the form of a record's place in one of the sources, file:line.
func (k *knownRows) isPlace(name string) bool {
	at := strings.LastIndexByte(name, ':')
	if at < 0 || !k.labels[name[:at]] {
		return false
	}
	_, err := strconv.ParseUint(name[at+1:], 10, 64)
	return err == nil
}

// upTo writes the rows before a document.
func (k *knownRows) upTo(doc uint32) error {
	if k.t.Known == nil {
		return nil
	}
	for ; k.doc < doc; k.doc++ {
		if !k.t.Known.Has(k.doc) {
			continue
		}
		value := k.c.Value(k.doc)
		if k.c.Err == nil && len(value) < 8 {
			return fmt.Errorf("document %d: what it is like is %d bytes", k.doc, len(value))
		}
		if k.c.Err != nil {
			return k.c.Err
		}
		similarity, name := math.Float64frombits(binary.LittleEndian.Uint64(value)), string(value[8:])
		if k.isPlace(name) {
			name = doctable.IndexPrefix + name // the document at that place is another one
		}
		k.write(k.c.ID(k.doc), name, string(measure.AppendSimilarity(nil, similarity)))
	}
	return k.c.Err
}

// writeClusters writes clusters.csv: id,cluster for the members of clusters of
// two or more, in input order; a cluster is named by its smallest document. Of records it
// is id,cluster,probability; what is not known is empty.
func (o *Options) writeClusters(ctx context.Context, to *Folder) error {
	header := []string{"id", "cluster"}
	if o.Records {
		header = append(header, "probability")
	}
	return to.Rows(ClustersFile, header, func(write func(row ...string)) error {
		docs, labels := o.Table.Scanner(), doctable.Namer{Cursor: o.Table.Cursor()}
		return o.Clusters.Labels.Visit(func(e extsort.Entry) error {
			row := []string{docs.ID(uint32(e.Key)), labels.ID(uint32(e.Value))}
			if o.Records {
				row = append(row, o.probability(uint32(e.Key)))
			}
			write(row...)
			return errors.Join(docs.Err, labels.Err, ctx.Err())
		})
	})
}

// probability returns the probability of a document's cluster, empty if it is not known.
func (o *Options) probability(doc uint32) string {
	if o.Probability == nil {
		return ""
	}
	p, known := o.Probability(doc)
	if !known {
		return ""
	}
	return string(measure.AppendSimilarity(nil, p))
}

// writeList writes kept.txt: the paths of the kept documents that are files of their own.
func (k *keptWriter) writeList(ctx context.Context) error {
	t := k.Table
	return k.out.writeFile(KeptList, func(w io.Writer) error {
		c := t.Scanner()
		var name, line []byte
		for i := t.References; i < t.Docs; i++ {
			doc := uint32(i)
			if !k.keeps(doc) || t.Sources[t.FileOf(doc)].Format != corpus.Text {
				continue
			}
			name = c.AppendID(name[:0], doc)
			line = append(engine.AppendLineName(line[:0], name), '\n')
			if err := errors.Join(c.Err, ctx.Err()); err != nil {
				return err
			}
			if _, err := w.Write(line); err != nil {
				return outputError(err)
			}
		}
		return nil
	})
}

// writeIDs writes kept.csv: id of the kept documents, in input order; with tags these too, and without IDsOnly
// only of documents that cannot carry them.
func (k *keptWriter) writeIDs(ctx context.Context) (err error) {
	header := []string{"id"}
	var tags *tagger
	if k.Tags != nil {
		header = append(header, k.Tags.Names...)
		tags = k.newTagger(0)
		defer func() { err = errors.Join(err, tags.close()) }()
	}
	return k.out.Rows(KeptIDsFile, header, func(write func(row ...string)) error {
		docs := k.Table.Scanner()
		for i := k.Table.References; i < k.Table.Docs; i++ {
			doc := uint32(i)
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if !k.keeps(doc) || !k.IDsOnly && tagging.Carry(k.Table.Sources[k.Table.FileOf(doc)].Format) {
				continue
			}
			row := []string{docs.ID(doc)}
			if tags != nil {
				g, err := tags.of(doc)
				if err != nil {
					return err
				}
				for _, cell := range k.Tags.Values(nil, &g, false) {
					row = append(row, string(cell))
				}
			}
			write(row...)
			if docs.Err != nil {
				return docs.Err
			}
			if k.IDsOnly {
				k.items.Add(1)
			}
		}
		return nil
	})
}

// WriteLast writes the summary, and the page with its data; nil: there is no page.
func (o *Folder) WriteLast(summary any, page *Page) error {
	var group errgroup.Group // waiting for the disk takes most of the time
	if page != nil {
		group.Go(func() error { return o.writeFile(ReportFile, page.write) })
		group.Go(func() error { return o.writeFile(ReportData, page.store) })
	}
	err := o.writeFile(SummaryFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(summary)
	})
	return errors.Join(err, group.Wait())
}

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

// store writes a StoredPage. Its data are JSON already, which an encoder would read once more.
func (p *Page) store(w io.Writer) error {
	_, err := fmt.Fprintf(w, "{\"page\":%q,\"version\":%d,\"data\":%s}\n", p.kind, pageVersion, p.data)
	return err
}

// Known tells whether this program makes pages of these data.
func (p *StoredPage) Known(kind string) bool { return p.Page == kind && p.Version == pageVersion }
