package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alike-dev/alike/internal/scratch"
)

// Stages returns the stages of a plan in their order: each reads streams of earlier ones only.
func (p *Plan) Stages() []Stage {
	var all []Stage
	switch {
	case p.Join != nil:
		all = p.recordStages()
	case p.Passages != nil:
		all = passageStages(p.Passages, len(p.FirstFiles), p.Partitions)
	default:
		all = p.textStages()
	}
	if all = namedStreams(all); p.Joined {
		all = namedStreams(joinStages(all))
	}
	return all
}

// textStages returns the stages of a Dedup or Pairs of texts.
func (p *Plan) textStages() []Stage {
	files, dedup := len(p.FirstFiles), p.Command == Dedup
	hot := p.comparesHot()
	counted := when(p.within() != "", ValueCounts)
	all := []Stage{
		{Name: "sketch", Tasks: files, Documents: true, writes: []Stream{Rows, Names, Cards, when(dedup, Damaged), when(hot, Totals), Counts}, run: sketch},
		{Name: "names", Tasks: p.Partitions, reads: []Stream{Names}, writes: []Stream{Skips, Repeats, when(p.References > 0, Renames)}, run: names},
	}
	found := []Stream{when(p.wantsAll(), Edges), when(dedup, ForestEdges), Counts}
	if p.Whole {
		found = []Stream{Similar, Counts}
	}
	all = append(all, p.candidateStages(found)...)
	if hot {
		_, hamming := p.recipe.Distance()
		all = append(all, Stage{Name: "hot", Tasks: 1, reads: []Stream{Totals, HotSizes, HotSets, when(hamming, HotMembers)},
			writes: []Stream{when(p.wantsAll() && !p.Whole, HotEdges), when(dedup && !p.Whole, HotLinks), hotSimilar(p), Counts}, run: hotJoins(hamming)})
	}
	all = append(all, wholeStages(p)...)
	edges := edgeStreams(p)
	if !dedup {
		return append(all,
			Stage{Name: "left", Tasks: files, reads: append(edges, Copies), writes: []Stream{Halves, CopyPairs}, run: left},
			Stage{Name: "right", Tasks: files, reads: []Stream{Halves, Copies}, writes: []Stream{PairsFound}, run: right},
			Stage{Name: "named", Tasks: files, reads: []Stream{PairsFound, CopyPairs, Cards}, writes: []Stream{NamedPairs}, run: named},
			Stage{Name: Write, Tasks: files, reads: []Stream{NamedPairs, Cards, Repeats}, writes: []Stream{PairsText, Counts, counted}, run: list},
			Stage{Name: Publish, Tasks: 1, reads: []Stream{PairsText, Counts, counted}},
		)
	}
	all = append(all, p.forests()...)
	return append(all,
		Stage{Name: "members", Tasks: files,
			reads:  append(edges, Cards, Copies, OwnSets, Labels, when(p.References > 0, Renames)),
			writes: []Stream{Members, when(p.Star, StarEdges)}, run: members},
		Stage{Name: "clusters", Tasks: p.Partitions, reads: []Stream{Members, when(p.Star, StarEdges)}, writes: []Stream{Fates, Counts}, run: clusters},
		Stage{Name: Write, Tasks: files, reads: []Stream{Fates, Repeats, Damaged, when(p.Listed || p.Tags != nil || counted != 0, Cards)}, Documents: true,
			writes: []Stream{RemovedText, ClustersText, Drops, when(p.Listed, KeptText), when(p.Tags.rows(), TagRows), Counts, counted}, run: write},
		Stage{Name: Publish, Tasks: 1, reads: []Stream{RemovedText, ClustersText, when(p.Listed, KeptText), Counts, counted}},
	)
}

// candidateStages returns the stages from classes to verified pairs: by buckets of equal keys, by samples or, if the
// recipe has no keys, by joining all sets.
func (p *Plan) candidateStages(found []Stream) []Stage {
	files, hashes, dedup := len(p.FirstFiles), p.Partitions, p.Command == Dedup
	classed := func(found, asked Stream) Stage {
		return Stage{Name: "classes", Tasks: hashes, reads: []Stream{Rows, Skips}, writes: []Stream{found, asked, Copies, when(dedup, CopyEdges), when(p.Whole, Draws), when(p.Whole, Represented), Counts}, run: classes}
	}
	hot := p.comparesHot()
	texted := Stage{Name: "texts", Tasks: files, reads: []Stream{Wants, when(hot, Hot), when(p.Whole, Draws)}, Documents: true,
		writes: []Stream{Sets, when(dedup, OwnSets), when(hot, HotSizes), when(hot, HotSets), when(p.Whole, Drawn)}, run: texts}
	verified := Stage{Name: "verify", Tasks: hashes, reads: []Stream{Buckets, Sets}, writes: found, run: verify}
	_, hamming := p.recipe.Distance()
	switch {
	case p.recipe.Keys() == 0:
		return []Stage{classed(0, Wants), texted, {Name: "verify", Tasks: hashes, reads: []Stream{Sets}, writes: found, run: joinAll}}
	case p.recipe.Sample().Size > 0:
		return []Stage{
			classed(Keys, Looks),
			{Name: "filter", Tasks: hashes, reads: []Stream{Keys}, writes: []Stream{Filters}, run: filter},
			{Name: "look", Tasks: files, reads: []Stream{Filters, Looks}, Documents: true, writes: []Stream{Sampled}, run: look},
			{Name: "group", Tasks: hashes, reads: []Stream{Sampled}, writes: []Stream{Votes, when(hot, Hot), Counts}, run: vote},
			{Name: "agree", Tasks: hashes, reads: []Stream{Votes}, writes: []Stream{Buckets, Wants}, run: agree},
			texted, verified,
		}
	}
	grouped := Stage{Name: "group", Tasks: hashes, reads: []Stream{Keys},
		writes: []Stream{Buckets, Wants, when(hot, Hot), when(hot && hamming, HotMembers), Counts}, run: group}
	return []Stage{classed(Keys, 0), grouped, texted, verified}
}

// wholeStages returns the stages that leave the pairs of which one text stands in the other: see whole.go.
func wholeStages(p *Plan) []Stage {
	if !p.Whole {
		return nil
	}
	return []Stage{
		{Name: "common", Tasks: 1, reads: []Stream{Represented, Drawn}, writes: []Stream{Common}, run: common},
		{Name: "ask", Tasks: p.Partitions, reads: []Stream{Similar, hotSimilar(p)}, writes: []Stream{TextWants}, run: askTexts},
		{Name: "read", Tasks: len(p.FirstFiles), reads: []Stream{TextWants}, Documents: true, writes: []Stream{Texts}, run: readTexts},
		{Name: "whole", Tasks: p.Partitions, reads: []Stream{Similar, hotSimilar(p), Texts, Common}, writes: []Stream{Standing, ForestEdges, Counts}, run: wholes},
	}
}

// recordStages returns the stages of a Join, or of Dedup of records.
func (p *Plan) recordStages() []Stage {
	files, hashes := len(p.FirstFiles), p.Partitions
	switch {
	case p.Command == Dedup:
		return []Stage{
			{Name: "records", Tasks: files, Documents: true, writes: []Stream{TableRecords, Names, Damaged, Counts}, run: gather},
			{Name: "names", Tasks: hashes, reads: []Stream{Names}, writes: []Stream{Skips, Repeats}, run: names},
			{Name: Match, Tasks: 1, reads: []Stream{TableRecords, Skips}, writes: []Stream{Fates, Told, Counts}, run: match},
			{Name: Write, Tasks: files, reads: []Stream{Fates, Repeats, Damaged}, Documents: true,
				writes: []Stream{RemovedText, ClustersText, Drops, Counts}, run: write},
			{Name: Publish, Tasks: 1, reads: []Stream{RemovedText, ClustersText, Told, Counts}},
		}
	case p.Join.Rule != nil:
		return []Stage{
			{Name: "records", Tasks: files, Documents: true, writes: []Stream{TableRecords, Counts}, run: gather},
			{Name: Match, Tasks: 1, reads: []Stream{TableRecords}, writes: []Stream{MatchedText, Told, Counts}, run: match},
			{Name: Write, Tasks: 1, reads: []Stream{MatchedText}, writes: []Stream{LinksText}, run: handOn},
			{Name: Publish, Tasks: 1, reads: []Stream{LinksText, Told, Counts}},
		}
	}
	return []Stage{
		{Name: "count", Tasks: files, Documents: true, writes: []Stream{Filled, TokenCounts, TableRows, Counts}, run: countTokens},
		{Name: "weigh", Tasks: hashes, reads: []Stream{Filled, TokenCounts}, writes: []Stream{TokenWeights}, run: weigh},
		{Name: "bands", Tasks: files, reads: []Stream{TokenWeights}, Documents: true, writes: []Stream{RowKeys}, run: cutBands},
		{Name: "meet", Tasks: hashes, reads: []Stream{RowKeys}, writes: []Stream{Candidates, RowWants, Counts}, run: meet},
		{Name: "vectors", Tasks: files, reads: []Stream{TokenWeights, RowWants, TableRows}, Documents: true, writes: []Stream{Records}, run: vectors},
		{Name: "score", Tasks: hashes, reads: []Stream{Candidates, Records}, writes: []Stream{Links, Counts}, run: score},
		{Name: Write, Tasks: files, reads: []Stream{Links}, writes: []Stream{LinksText, Counts}, run: links},
		{Name: Publish, Tasks: 1, reads: []Stream{LinksText, Counts}},
	}
}

// forests returns the stages that merge spanning forests in a tree of tasks. The last task labels all documents.
func (p *Plan) forests() (all []Stage) {
	tasks := p.Partitions
	from := []Stream{ForestEdges, CopyEdges, when(p.comparesHot() && !p.Whole, HotLinks)}
	for to := Forests; ; to++ {
		tasks = (tasks + mergeWidth - 1) / mergeWidth
		if tasks == 1 {
			return append(all, Stage{Name: "labels", Tasks: tasks, reads: from, writes: []Stream{Labels}, run: merge(from, Labels)})
		}
		all = append(all, Stage{Name: fmt.Sprintf("forest%d", to-Forests+1), Tasks: tasks, reads: from, writes: []Stream{to}, run: merge(from, to)})
		from = []Stream{to}
	}
}

// namedStreams removes the zero streams of stages, and fills Reads and Writes with the names of the others.
func namedStreams(all []Stage) []Stage {
	for i := range all {
		s := &all[i]
		s.Reads, s.Writes = nil, nil
		none := func(s Stream) bool { return s == 0 }
		s.reads, s.writes = slices.DeleteFunc(s.reads, none), slices.DeleteFunc(s.writes, none)
		for _, of := range s.reads {
			s.Reads = append(s.Reads, of.String())
		}
		for _, of := range s.writes {
			s.Writes = append(s.Writes, of.String())
		}
	}
	return all
}

// ErrStage says that there is no such stage or task.
var ErrStage = errors.New("no such stage")

// Find returns the stage with a name, if it has a task of that number. The error wraps ErrStage.
func (p *Plan) Find(name string, number int) (Stage, error) {
	all := p.Stages()
	i := slices.IndexFunc(all, func(s Stage) bool { return s.Name == name })
	if i < 0 {
		return Stage{}, fmt.Errorf("%w: %q", ErrStage, name)
	}
	if number < 0 || number >= all[i].Tasks {
		return Stage{}, fmt.Errorf("%w: task %d of stage %s, which has tasks 0 to %d", ErrStage, number, name, all[i].Tasks-1)
	}
	return all[i], nil
}

// Run runs one task of any stage except Publish. The plan must be settled. The blocks that it gives to out
// depend on the plan, the blocks and the documents only: not on memory, time or order.
//
// It works on one processor (stage match on all), within the memory of space plus
//   - 16 MiB of blocks that are not full, twice in joined stages,
//   - in stage classes 8 bytes for each row of its partition,
//   - in stages verify and whole 20 bytes for each set, in stage clusters 24 for each member of the largest cluster,
//   - in stage hot up to 30 bytes for each of forecast.HotFeatures,
//   - in stages bands and vectors some 60 bytes for each token of a table, in stage score 16 for each record,
//   - in stage match what package linkage holds.
func Run(ctx context.Context, p *Plan, name string, number int, in Input, out Output, space *scratch.Space) error {
	s, err := p.Find(name, number)
	if err != nil {
		return err
	}
	if s.run == nil {
		return fmt.Errorf("%w: %q", ErrStage, name)
	}
	t := &task{ctx: ctx, plan: p, number: number, in: in, out: &emitter{plan: p, task: number, out: out}, space: space}
	if err = t.end(s.run(t)); err == nil {
		err = t.out.flush()
	}
	if err != nil {
		return fmt.Errorf("stage %s, task %d: %w", name, number, err)
	}
	return nil
}
