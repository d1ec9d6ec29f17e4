package index

import (
	"errors"
	"fmt"
	"math"

	"github.com/alike-dev/alike/internal/setting"
	"github.com/alike-dev/alike/measure"
)

// ErrRecall says that a search cannot promise the recall. Errors of this kind name the recall that it can promise.
var ErrRecall = errors.New("index: recall out of reach")

// A sampling describes a query before its candidates are known: how many of its features are keys of
// containment, and how many of these keys have full buckets.
type sampling struct {
	features, shared uint64 // features of the query; how many of these a document at the threshold has
	keys, full       uint64
	scale            uint64
}

// sampled returns the documents that may reach a threshold of a measure without a least Jaccard
// similarity, by the keys of Options.Containment. The hash of a feature alone decides whether it is a
// key, so the keys of a query are a random sample of its features.
//
// The recall is promised on average over seeds, or for the sample of this query. A query whose shingles
// are all in a document finds it with certainty by any of its keys. A query without keys is refused.
func (f *finder) sampled(v *view, q *query, t measure.Threshold, recall float64) (slots []uint64, err error) {
	if t.Measure() == measure.MaxContainment {
		return nil, setting.Errorf("%w: a short document inside the query may have no key: take containment, which asks for the query inside a document, or %s exact", ErrRecall, setting.Candidates)
	}
	set := q.features()
	has := sampling{features: uint64(len(set)), shared: t.MinOverlap(uint64(len(set)), math.MaxUint32), scale: uint64(f.x.options.Containment)}
	if has.shared > has.features {
		return nil, nil // no document can share that many features
	}
	if has.scale == 0 {
		return nil, setting.Errorf("%w: the index has no keys for %s: make it with %s %d, or take %s exact, which compares every document",
			ErrRecall, t.Measure(), setting.Containment, scaleFor(has.shared, recall), setting.Candidates)
	}
	f.keys = appendScaled(f.keys[:0], f.x.scaled, set, q.within)
	has.keys = uint64(len(f.keys))

	if has.full, err = f.collect(v, f.keys); err != nil {
		return nil, err
	}
	votes := has.votes(recall)
	if votes == 0 {
		return nil, has.refusal(t, recall)
	}
	f.slots = voted(f.slots, votes)
	return f.slots, nil
}

// collect sets f.slots to the slots in the buckets of keys: a document once for each bucket that it is in. Full buckets are left
// out, and counted.
func (f *finder) collect(v *view, keys []uint64) (full uint64, err error) {
	most := f.x.options.BucketCap
	buckets := buckets{view: v, most: most, keys: keys}
	defer func() { err = errors.Join(err, buckets.close()) }()
	v.touch(keys)
	f.slots = f.slots[:0]
	for _, key := range keys {
		from := len(f.slots)
		if f.slots, err = buckets.append(f.slots, key, v.Range); err != nil {
			return full, err
		}
		if len(f.slots)-from >= most {
			full++
			f.slots = f.slots[:from]
		}
	}
	return full, nil
}

// votes returns the number of keys with buckets that are not full that a document must share: a
// document at the threshold shares as many with the probability recall. Documents that share fewer are
// left out. It is 0 if the recall cannot be reached.
func (h sampling) votes(recall float64) (votes int) {
	if h.full == h.keys {
		return 0
	}
	for below := 0.0; uint64(votes) < h.keys-h.full; votes++ {
		if below += h.agreement(votes); 1-below < recall {
			break
		}
	}
	if votes == 0 && h.onAverage() >= recall {
		return 1
	}
	return votes
}

// others returns how many features of the query are in no full bucket, and how many of these a document
// at the threshold shares. The number in full buckets is extrapolated from the keys, rounded up. Every
// document is assumed to have these features, so that they do not help to find it.
func (h sampling) others() (features, shared uint64) {
	common := (h.features*h.full + max(h.keys, 1) - 1) / max(h.keys, 1)
	return h.features - common, h.shared - min(h.shared, common)
}

// onAverage returns the probability over seeds that one of the shared features is a key.
func (h sampling) onAverage() float64 {
	_, shared := h.others()
	return -math.Expm1(float64(shared) * math.Log1p(-1/float64(h.scale)))
}

// agreement returns the probability of sharing exactly so many of the keys whose buckets are not full:
// the hypergeometric distribution.
func (h sampling) agreement(keys int) float64 {
	features, shared := h.others()
	drawn, agree := h.keys-h.full, uint64(keys)
	if agree > shared || drawn-agree > features-shared {
		return 0
	}
	return math.Exp(logChoose(shared, agree) + logChoose(features-shared, drawn-agree) - logChoose(features, drawn))
}

// logChoose returns the logarithm of n choose k.
func logChoose(n, k uint64) float64 {
	a, _ := math.Lgamma(float64(n) + 1)
	b, _ := math.Lgamma(float64(k) + 1)
	c, _ := math.Lgamma(float64(n-k) + 1)
	return a - b - c
}

// refusal says why the recall cannot be reached, and which settings would reach it.
func (h sampling) refusal(t measure.Threshold, recall float64) error {
	full := ""
	if h.full > 0 {
		full = fmt.Sprintf(", %d of them in more documents than a bucket has room for", h.full)
	}
	best := math.Floor(1000*max(h.onAverage(), 1-h.agreement(0))) / 1000
	if h.full == h.keys {
		best = 0
	}
	smaller := setting.Text{}
	if scale := scaleFor(h.shared, recall); uint64(scale) < h.scale {
		smaller = setting.Textf(", an index made with %s %d", setting.Containment, scale)
	}
	return setting.Errorf("%w: %d of the query's %d shingles are keys of the index%s, by which a document at %s is found with probability %.3g, not %.3g: take a longer query, a higher threshold%s, or %s exact, which compares every document",
		ErrRecall, h.keys, h.features, full, t, best, recall, smaller, setting.Candidates)
}

// scaleFor returns the largest Options.Containment (the fewest keys) with which at least one of so many
// shared features is a key with the probability recall.
func scaleFor(shared uint64, recall float64) int {
	return max(1, int(-1/math.Expm1(math.Log1p(-recall)/float64(shared))))
}
