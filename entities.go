package alike

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/filelock"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/linkage"
)

// Entities are the things of which the records of several tables tell, see FindEntities.
type Entities struct {
	linkage.Report
	Records  []EntityRecord  `json:"-"` // of all tables, in the order of their names and of their records; see InOrder
	Entities int             `json:"entities"`
	Largest  []LargestEntity `json:"largest_entities,omitempty"` // at most 10, the largest first
	// Doubtful is the number of entities of which most pairs of records are, by themselves, more likely wrong than right.
	Doubtful int         `json:"doubtful_entities,omitempty"`
	Join     *JoinResult `json:"-"` // of the tables as one
}

// An EntityRecord says to which entity a record belongs.
type EntityRecord struct {
	Table, ID   string
	Entity      string  // the table and the id of its least record, by table and then by id
	Probability float64 // that the records of the entity are one thing: that of the weakest join between them; 1 of one record
}

// A LargestEntity is one of the largest entities.
type LargestEntity struct {
	Entity      string  `json:"entity"`
	Records     int     `json:"records"`
	Probability float64 `json:"probability"`
}

// FindEntities finds the records of any number of tables that are one thing, within tables too. Columns meet by name, else by
// the words they hold. In the tables of unique each thing is at most once: their records are neither linked nor in one entity
// with each other. config says how records are compared and decided; its Left, Right, Match, Sources, Work and Clusters are
// not used, and LeftID is the column of the ids in the tables that have it. The tables are written as one into a temporary
// file, which takes about as much disk as they do as CSV.
func FindEntities(ctx context.Context, tables, unique []string, config JoinConfig) (_ *Entities, err error) {
	folder, err := filelock.MakeFolder(os.TempDir(), "entities")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	skips := 0
	// Of equally near candidates the first ones are taken, and columns are called as in the first table: so the tables are
	// compared in one order, however they are named.
	stack := &linkage.Stack{Tables: slices.Sorted(slices.Values(tables)), ID: config.LeftID, Unique: unique, Corpus: config.Corpus, Skipped: func(p *corpus.Problem) error {
		if skips++; config.Fail {
			return p
		}
		if config.OnSkip != nil {
			config.OnSkip(p)
		}
		return nil
	}}
	all, err := stack.Write(ctx, func(table int) (io.WriteCloser, error) {
		file, err := os.Create(filepath.Join(folder.Path, fmt.Sprintf("%06d.csv", table)))
		return buffered{bufio.NewWriterSize(file, 1<<20), file}, err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range config.Fields {
		for _, name := range []string{f.Left, cmp.Or(f.Right, f.Left)} {
			if !slices.Contains(all.Names, name) { // those that say of which table a record is are not theirs
				return nil, setting.Errorf("no table has a column %q to compare, there are: %s (%s)", name, fault.List(all.Names), setting.Field)
			}
		}
	}
	config.Left, config.Right, config.LeftID, config.Table = folder.Path, "", all.ID, all.Table
	config.Copies[0] = linkage.Original{Name: "the tables"}
	config.Corpus = corpus.Options{Format: corpus.CSV, MaxRecord: config.Corpus.MaxRecord}
	config.Match, config.Work, config.Sources, config.Clusters, config.Even = linkage.All, "", nil, true, true
	if len(unique) > 0 {
		config.Sources = []string{all.Unique}
	}
	r, err := linkage.Join(ctx, config)
	if err != nil {
		return nil, err
	}
	r.Skipped += skips
	r.Notes = append(all.Notes, r.Notes...)
	return entitiesOf(r, all), r.Finish()
}

// InOrder returns the records in the order of some or all tables.
func (e *Entities) InOrder(tables []string) []EntityRecord {
	of := map[string][]EntityRecord{}
	for from := 0; from < len(e.Records); {
		table, end := e.Records[from].Table, from
		for end < len(e.Records) && e.Records[end].Table == table {
			end++
		}
		of[table], from = e.Records[from:end], end
	}
	all := make([]EntityRecord, 0, len(e.Records))
	for _, table := range tables {
		all = append(all, of[table]...)
	}
	return all
}

// buffered is a file that is written in large pieces.
type buffered struct {
	*bufio.Writer
	file *os.File
}

func (b buffered) Close() error { return errors.Join(b.Flush(), b.file.Close()) }

// entitiesOf names the entities of a join of several tables as one.
func entitiesOf(r *JoinResult, all *linkage.Stacked) *Entities {
	r.LeftOut = slices.DeleteFunc(r.LeftOut, func(u linkage.LeftOut) bool { return u.Name == all.Unique || u.Name == all.Table })
	e := &Entities{Report: r.Report, Records: make([]EntityRecord, r.Left), Join: r}
	for row := range e.Records {
		of := &e.Records[row]
		of.Table, of.ID = all.Of(row, r.ID(row))
		of.Entity, of.Probability = of.Table+":"+of.ID, 1
	}
	e.Entities = r.Left
	if r.Entities == nil { // there are no records
		return e
	}
	for i := range r.Entities.Clusters {
		c := &r.Entities.Clusters[i]
		least := slices.MinFunc(c.Members, func(a, b uint32) int {
			x, y := &e.Records[a], &e.Records[b]
			return cmp.Or(cmp.Compare(x.Table, y.Table), cmp.Compare(x.ID, y.ID))
		})
		name := e.Records[least].Table + ":" + e.Records[least].ID
		for _, m := range c.Members {
			e.Records[m].Entity, e.Records[m].Probability = name, c.Probability
		}
		e.Entities -= len(c.Members) - 1
		if 2*c.Believed < c.Pairs() {
			e.Doubtful++
		}
	}
	if len(r.Repeated) > 0 {
		e.nameApart(r.Entities.Clusters)
	}
	for i := range r.Entities.Clusters {
		c := &r.Entities.Clusters[i]
		e.Largest = append(e.Largest, LargestEntity{e.Records[c.Members[0]].Entity, len(c.Members), c.Probability})
	}
	sorting.Stable(e.Largest, func(x, y LargestEntity) int {
		return cmp.Or(cmp.Compare(y.Records, x.Records), cmp.Compare(x.Entity, y.Entity))
	})
	e.Largest = e.Largest[:min(largestEntities, len(e.Largest))]
	return e
}

// nameApart gives different entities different names where several records of a table have one id.
func (e *Entities) nameApart(clusters []linkage.Cluster) {
	first := make([]int, len(e.Records)) // of each record the first one of its entity
	for row := range first {
		first[row] = row
	}
	for i := range clusters {
		least := slices.Min(clusters[i].Members)
		for _, m := range clusters[i].Members {
			first[m] = int(least)
		}
	}
	used := map[string]bool{}
	for row := range e.Records {
		of := &e.Records[row]
		if first[row] < row {
			of.Entity = e.Records[first[row]].Entity
			continue
		}
		of.Entity = unusedName(used, of.Entity)
	}
}

// unusedName returns a name, or with a number behind it the first that is not used, and uses it.
func unusedName(used map[string]bool, name string) string {
	unused := name
	for i := 2; used[unused]; i++ {
		unused = name + "/" + strconv.Itoa(i)
	}
	used[unused] = true
	return unused
}
