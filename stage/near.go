package stage

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/alike-dev/alike/internal/engine"
	"github.com/alike-dev/alike/internal/extsort"
	"github.com/alike-dev/alike/internal/forecast"
	"github.com/alike-dev/alike/internal/sides"
)

// nearJoin compares the signatures of all members of buckets over the cap, within engine.NearBudget. It holds those of
// one bucket, which the budget bounds.
type nearJoin struct {
	t         *task
	members   *extsort.Sorted // Key: key of a bucket, Value: position of a member
	signs     *payloads
	budget    *engine.NearBudget
	left      map[uint64]bool // documents of buckets in which not all pairs are compared
	bucket    engine.Bucket
	positions []uint64
}

// compareNear joins the documents of hot buckets by the distance of their signatures.
func compareNear(t *task, documents int) error {
	members, err := t.sorted(4, HotMembers)
	if err != nil {
		return err
	}
	signs, err := newPayloads(t, HotSets)
	if err != nil {
		return err
	}
	j := &nearJoin{t: t, members: members, signs: signs, left: map[uint64]bool{}, budget: engine.NewNearBudget(t.plan.recipe.Words(), t.plan.BucketCap)}
	j.bucket.Comparer, j.bucket.Sides = t.plan.recipe.NewComparer(false), &t.plan.sides
	err = j.eachBucket(func(size int64, _ *extsort.Reader) error {
		j.budget.Add(size, sides.Pairs(float64(size), float64(size), float64(size)))
		return nil
	})
	if err == nil {
		j.budget.Spend(forecast.HotBudget(documents))
		err = j.eachBucket(j.compare)
	}
	return errors.Join(err, t.count(CountMissed, int64(len(j.left))))
}

// eachBucket visits the buckets with their sizes, and a reader that stands at their first member.
func (j *nearJoin) eachBucket(visit func(size int64, members *extsort.Reader) error) error {
	behind := j.t.reader(j.members)
	size, key := int64(0), uint64(0)
	end := func() error {
		if size == 0 {
			return nil
		}
		if err := visit(size, behind); err != nil {
			return err
		}
		for e, ok := behind.Peek(); ok && e.Key == key; e, ok = behind.Peek() {
			behind.Next()
		}
		size = 0
		return j.t.ctx.Err()
	}
	err := j.members.Visit(func(e extsort.Entry) error {
		if e.Key != key {
			if err := end(); err != nil {
				return err
			}
			key = e.Key
		}
		size++
		return nil
	})
	return errors.Join(err, end(), behind.Close())
}

// compare emits the pairs of a bucket, or notes its documents if it is not compared with all.
func (j *nearJoin) compare(size int64, members *extsort.Reader) error {
	admitted := j.budget.Admits(size)
	all := j.positions[:0]
	for range size {
		e, _ := members.Next()
		if !admitted {
			j.left[e.Value] = true
			continue
		}
		all = append(all, e.Value)
	}
	j.positions = all
	if !admitted {
		return nil
	}
	b := &j.bucket
	b.Docs, b.Signatures, b.Most = b.Docs[:0], b.Signatures[:0], j.budget.Pairs(size)
	for _, position := range all {
		i, found := j.signs.find(position)
		if !found {
			return missing(position)
		}
		payload, err := j.signs.of(i)
		if err != nil {
			return err
		}
		b.Docs = append(b.Docs, fileOf(position))
		for ; len(payload) >= 4; payload = payload[4:] {
			b.Signatures = append(b.Signatures, binary.LittleEndian.Uint32(payload))
		}
	}
	for k, second := range all {
		more, err := b.EachNear(k, func(i int, similarity float64) error {
			return j.t.hotEdge(all[i], second, math.Float64bits(similarity))
		})
		if err != nil {
			return err
		}
		if !more {
			for _, position := range all {
				j.left[position] = true
			}
			return nil
		}
	}
	return nil
}

// hotEdge emits an edge of stage hot.
func (t *task) hotEdge(a, b uint64, similarity uint64) error {
	if t.plan.Whole {
		return t.similar(HotSimilar, a, b)
	}
	if t.plan.Command == Dedup {
		if err := t.out.add(HotLinks, 0, nil, a, b); err != nil {
			return err
		}
	}
	if !t.plan.wantsAll() {
		return nil
	}
	return t.out.add(HotEdges, t.plan.TaskOf(a), nil, a, b, similarity)
}
