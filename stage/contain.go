package stage

import (
	"errors"
	"fmt"

	"github.com/alike-dev/alike/internal/bloom"
	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/lsh"
)

// By containment, pairs are found by samples: see lsh.Sample. The keys of samples go to tasks by hash, and each of these
// sends a filter of its keys to all tasks that read documents:
//
//	keys of samples → filters → all features that pass → votes → pairs with enough of them

// sampling returns how samples find pairs.
func (p *Plan) sampling() *engine.Sampling {
	return &engine.Sampling{Sample: p.recipe.Sample(), Seed: p.recipe.SampleSeed(), Threshold: p.edges.Threshold, Cap: p.BucketCap}
}

// voteBits is how many bits votes take above or below a position.
const voteBits = 8

// filter makes the filter of the keys of a task, for all tasks that read documents.
func filter(t *task) error {
	keys, err := t.sorted(2, Keys)
	if err != nil {
		return err
	}
	each := func(visit func(key uint64)) error {
		last, begun := uint64(0), false
		return keys.Visit(func(e extsort.Entry) error {
			if !begun || e.Key != last {
				visit(e.Key)
			}
			last, begun = e.Key, true
			return nil
		})
	}
	n := 0
	err = each(func(uint64) { n++ })
	of := bloom.New(n)
	err = errors.Join(err, each(of.Add))
	payload := appendWords(nil, of.Words())
	for task := range t.plan.FirstFiles {
		if err == nil {
			err = t.out.add(Filters, task, payload, uint64(t.number))
		}
	}
	return err
}

// look compares all features of representatives with the keys of samples.
func look(t *task) error {
	filters := make([]*bloom.Filter, t.plan.Partitions)
	err := t.each(Filters, func(r row) error {
		if r.words[0] >= uint64(len(filters)) || len(r.payload) == 0 {
			return errParts
		}
		filters[r.words[0]] = bloom.Of(wordsOf(nil, r.payload))
		return nil
	})
	if err != nil {
		return err
	}
	for i, f := range filters {
		if f == nil {
			return fmt.Errorf("no filter of partition %d: run stage filter for all tasks", i)
		}
	}
	sorted, err := t.sorted(8, Looks)
	if err != nil {
		return err
	}
	looks := t.lookup(sorted)
	s, maker := t.plan.sampling(), t.plan.recipe.NewSetMaker()
	looker := s.NewLooker()
	var features []uint64
	pass := func(keys []uint64, has []bool) {
		for i, key := range keys {
			has[i] = filters[t.plan.hashed(key)].Has(key)
		}
	}
	wanted := func(position uint64) bool { _, found := looks.Find(position); return found }
	_, err = t.in.Documents(t.ctx, wanted, func(d *Document) error {
		if d.Damaged {
			return missing(d.Position)
		}
		if d.Position>>(64-voteBits) != 0 {
			return errors.New("more than 2²⁴ files: put several of them into one")
		}
		features = maker.AppendFeatures(features[:0], d.Text)
		within := t.plan.within().of(d)
		hashes, last, votes := looker.Look(features, within, !t.ofReferences(), pass)
		for _, hash := range hashes {
			key := within.Key(hash)
			own := 0
			if hash <= last {
				own = votes
			}
			if err := t.out.add(Sampled, t.plan.hashed(key), nil, key, s.Missing(own)<<(64-voteBits)|d.Position); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// sampler votes for the pairs of each key's documents. Those that sample the key come first.
type sampler struct {
	*engine.Sampling
	t       *task
	hot     *hotBuckets
	key     uint64
	members []sampled // of the key; if it is over the cap, its hubs
	sampled int       // how many of them sample the key
	size    int64     // documents of a key over the cap; 0: it is not
}

type sampled struct{ position, votes uint64 }

// vote votes for the pairs of a document that samples a key and one that has it.
func vote(t *task) error {
	keys, err := t.sorted(2, Sampled)
	if err != nil {
		return err
	}
	v := &sampler{Sampling: t.plan.sampling(), t: t}
	return t.withHot(func(h *hotBuckets) error {
		v.hot = h
		err := keys.Visit(func(e extsort.Entry) error {
			if e.Key != v.key {
				if err := v.end(); err != nil {
					return err
				}
				v.key = e.Key
			}
			return v.add(sampled{e.Value & (1<<(64-voteBits) - 1), v.Votes(e.Value >> (64 - voteBits))})
		})
		if err != nil {
			return err
		}
		return v.end()
	})
}

// add adds a document to the key.
func (v *sampler) add(m sampled) error {
	if v.size > 0 {
		return v.over(m)
	}
	if m.votes > 0 {
		v.sampled++
	}
	if v.sampled == 0 { // no sample has the key: it is a false positive of the filter
		return nil
	}
	v.members = append(v.members, m)
	if !v.Over(v.sampled, len(v.members)) {
		return nil
	}
	all := v.members
	v.members = nil
	for _, m := range all {
		if err := v.over(m); err != nil {
			return err
		}
	}
	return nil
}

// over votes for the pairs of a document of a key over the cap with the key's hubs.
func (v *sampler) over(m sampled) error {
	v.size++
	for _, hub := range v.members {
		if err := v.pair(hub, m); err != nil {
			return err
		}
	}
	if len(v.members) < lsh.Hubs {
		v.members = append(v.members, m)
	}
	return v.hot.add(v.key, m.position)
}

func (v *sampler) end() error {
	if v.size > 0 {
		v.hot.end(v.size)
		v.sampled = 0
	}
	for i, m := range v.members[:v.sampled] {
		for _, other := range v.members[i+1:] {
			if err := v.pair(m, other); err != nil {
				return err
			}
		}
	}
	v.members, v.sampled, v.size = v.members[:0], 0, 0
	return nil
}

// pair emits the votes for a pair: those of either document's sample.
func (v *sampler) pair(a, b sampled) error {
	if a.position > b.position {
		a, b = b, a
	}
	if !v.t.plan.meet(a.position, b.position) {
		return nil
	}
	for side, votes := range [2]uint64{a.votes, b.votes} {
		if votes == 0 {
			continue
		}
		value := b.position<<voteBits | uint64(side)<<(voteBits-1) | min(votes, 1<<(voteBits-1)-1)
		if err := v.t.out.add(Votes, v.t.plan.hashed(a.position), nil, a.position, value); err != nil {
			return err
		}
	}
	return nil
}

// agree makes candidates of the pairs of which one document has enough of the other one's sample.
func agree(t *task) error {
	votes, err := t.sorted(2, Votes)
	if err != nil {
		return err
	}
	enough := uint64(t.plan.recipe.Sample().Agree)
	var pair, sums [2]uint64
	var payload []byte
	wants, err := t.sort("wants", 4, func(to *extsort.Appender) error {
		end := func() error {
			if max(sums[0], sums[1]) < enough {
				return nil
			}
			payload = appendWords(payload[:0], pair[:])
			return errors.Join(to.Add(pair[0], uint64(t.number)), to.Add(pair[1], uint64(t.number)), t.out.add(Buckets, t.number, payload, 1))
		}
		err := votes.Visit(func(e extsort.Entry) error {
			if next := [2]uint64{e.Key, e.Value >> voteBits}; next != pair {
				if err := end(); err != nil {
					return err
				}
				pair, sums = next, [2]uint64{}
			}
			sums[e.Value>>(voteBits-1)&1] += e.Value & (1<<(voteBits-1) - 1)
			return nil
		})
		return errors.Join(err, end())
	})
	if err != nil {
		return err
	}
	return t.ask(Wants, wants)
}
