package alike

import (
	"cmp"
	"context"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/internal/fault"
	"github.com/alike-dev/alike/internal/logistic"
	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/linkage"
)

// DedupRecords copies the records of a table to config.Output, but only one of every cluster
// of records that Join links within join.Left. With join.Clusters these are clusters that hold, in
// which two records are more likely one thing than not; without, all that links connect. config sets which record of a cluster to keep,
// the outputs, and the callbacks; join sets the table and how to read it. The result is that
// of the join; it is nil after an error.
//
// If the expected precision is not known, or may be below a half, clusters are listed, no record is removed, and Summary.Undecided
// is set: unless accept is, or join has a Threshold, a Precision or a Model, which are decisions of the caller.
func DedupRecords(ctx context.Context, config Config, join JoinConfig, accept bool) (*Summary, *JoinResult, error) {
	columns, id, err := linkage.Columns(ctx, join.Left, join.LeftID, join.Corpus)
	if err != nil {
		return nil, nil, err
	}
	config.Inputs, config.Corpus, config.Threads = []string{join.Left}, join.Corpus, join.Threads
	files, err := linkage.TableFiles(ctx, join.Left, join.Corpus)
	if err != nil {
		return nil, nil, err
	}
	if len(files) > 1 { // of a folder, which may hold files that are no tables
		config.Inputs = nil
		for _, f := range files {
			config.Inputs = append(config.Inputs, f.Input())
		}
	}
	config.Corpus.NoText, config.Corpus.IDField, config.Corpus.Fields = true, cmp.Or(id, corpus.NoID), nil
	if kept, ok := config.Survivors.(dedup.OnePerCluster); ok && kept.Keep.NeedsLength() {
		config.Corpus.Fields = columns
	}
	if config.OnError == dedup.OnErrorFail {
		join.Fail = true
	}
	// The tables of the join stay in memory until the engine is done, which needs little memory
	// besides.
	join.Memory, config.Memory = config.Memory-config.Memory/4, config.Memory/4
	if folder, ok := config.Work.(dedup.WorkFolder); ok {
		join.Work, join.Fresh = folder.Path, folder.Fresh // the join takes most of the time
		config.Work = dedup.FinderFolder(folder.Path)
	}
	join.Even = true  // what is removed is more likely a double than not
	join.OnSkip = nil // the engine reads the same records and reports them
	guessed := join.LeftID == "" && id != "id"
	var result *JoinResult
	config.Decide = dedup.ByLinks(func(ctx context.Context) (*dedup.Links, error) {
		if result, err = linkage.Join(ctx, join); err != nil {
			return nil, err
		}
		for _, note := range result.Told() {
			if config.OnNotice != nil {
				config.OnNotice(setting.Textf("%s", note))
			}
		}
		if guessed && len(result.Repeated) > 0 {
			return nil, setting.Errorf("the column %q was taken as the ids, and %s is there more than once: name the column with the ids (%s), or - where there is none",
				id, result.Repeated[0], setting.IDField)
		}
		links := linksOf(result, join.Threshold)
		links.Undecided = !accept && !join.Decides() && !result.Tells()
		return links, nil
	})
	summary, err := dedup.Run(ctx, withReport(config))
	if err != nil {
		return nil, nil, err
	}
	return summary, result, result.Finish()
}

// linksOf returns the links of a join within one table as links of the engine.
func linksOf(r *JoinResult, threshold float64) *dedup.Links {
	var names []string
	for _, c := range r.Columns {
		names = append(names, c.Left)
	}
	by := "records alike by " + fault.List(names)
	if estimates := r.Estimates(); estimates != "" {
		by += "; " + estimates
	}
	links := &dedup.Links{
		Records: r.Left,
		All: func(yield func(dedup.Link) bool) {
			for c := range r.Connecting() {
				if !yield(dedup.Link(c)) {
					return
				}
			}
		},
		Similarity: func(a, b uint32) float64 { return r.Similarity(int(a), int(b)) },
		ID:         func(record uint32) []byte { return r.ID(int(record)) },
		By:         by,
		Threshold:  threshold, Candidates: int64(r.Candidates),
		ExpectedPrecision: dedup.Between(r.ExpectedPrecision[0], r.ExpectedPrecision[1]),
		ExpectedRecall:    dedup.Between(r.ExpectedRecall[0], r.ExpectedRecall[1]),
		Columns:           r.Columns, LeftOut: r.LeftOut,
	}
	if r.Entities != nil {
		describeEntities(links, r)
	}
	return links
}

// largestEntities is how many clusters of records are described.
const largestEntities = 10

// describeEntities tells how likely the clusters are, and which are the largest.
func describeEntities(links *dedup.Links, r *JoinResult) {
	clusters := r.Entities.Clusters
	links.Probability = r.ClusterProbability()
	order := make([]int, len(clusters))
	for i := range clusters {
		order[i] = i
		if 2*clusters[i].Believed < clusters[i].Pairs() {
			links.Doubtful++
		}
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(cmp.Compare(len(clusters[y].Members), len(clusters[x].Members)), cmp.Compare(x, y))
	})
	for _, i := range order[:min(largestEntities, len(order))] {
		c := &clusters[i]
		weakest := dedup.Link{A: c.Weakest.A, B: c.Weakest.B, Similarity: logistic.Probability(c.Weakest.Evidence)}
		links.Largest = append(links.Largest, dedup.LinkedCluster{First: c.Members[0], Size: len(c.Members), Probability: c.Probability, Weakest: weakest})
	}
}
