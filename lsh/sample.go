package lsh

import (
	"fmt"

	"github.com/alike-dev/alike/measure"
)

// Sample says how to find the documents that contain most of another one. They may be much
// larger, so that no band of the two signatures agrees:
//
//	every document A has a sample, the Size features with the smallest hashes;
//	a document B is a candidate if it has at least Agree features of the sample of A.
//
// Each feature of the sample is in B with probability |A∩B|/|A|, the containment, however
// large B is. Only A is sampled: all features of B are compared with the samples.
//
// Samples are bottom-k sketches (A. Z. Broder, "On the resemblance and containment of
// documents", SEQUENCES 1997). Scaled sketches (minhash.Scaled) answer the same question, but
// keep too little of a short document to promise a recall, or too much of a long one.
type Sample struct {
	Size  int // features of a sample, at least 1
	Agree int // how many of them a candidate must have, 1 to Size
}

// sampleAgree is Agree wherever the recall allows it. A text that shares one feature in fifty
// with another one has three given features of a sample by chance once in a hundred thousand
// times. In a gigabyte of texts in which each phrase occurred about 25 times, Agree 1 of 3
// gave 15 million pairs, 3 of 7 a quarter of a million, at the same recall.
const sampleAgree = 3

// MaxSample is the largest sample that TuneSample returns.
const MaxSample = 128

// TuneSample returns the smallest sample that finds a pair of t with a probability of at
// least recall. t is of Containment or MaxContainment, and 0 ≤ recall < 1, where 0 means
// DefaultRecall. The error is a *RecallError if the threshold needs more than MaxSample
// features (below 0.07 at the default recall).
func TuneSample(t measure.Threshold, recall float64) (Sample, error) {
	if recall == 0 {
		recall = DefaultRecall
	}
	if m := t.Measure(); !m.ByParts() {
		return Sample{}, fmt.Errorf("lsh: a sample finds pairs by containment, not by %v", m)
	}
	if !(recall > 0 && recall < 1) {
		return Sample{}, fmt.Errorf("lsh: recall %g: must be above 0 and below 1 (only exact candidates give 1)", recall)
	}
	s := Sample{Size: sampleAgree, Agree: sampleAgree}
	for ; s.Size <= MaxSample; s.Size++ {
		if s.Probability(t.Float()) >= recall {
			return s, nil
		}
	}
	s.Size = MaxSample
	return s, &RecallError{Threshold: t.Float(), Recall: recall, K: MaxSample, Best: s.Probability(t.Float())}
}

// Validate reports whether the sample can be used.
func (s Sample) Validate() error {
	if s.Size < 1 || s.Size > MaxSample || s.Agree < 1 || s.Agree > s.Size {
		return fmt.Errorf("lsh: %d of a sample of %d: a sample has 1 to %d features, and 1 or more of them must be shared", s.Agree, s.Size, MaxSample)
	}
	return nil
}

// Probability returns the probability that a document is a candidate for another one of which
// it contains the given share, in [0, 1]. For documents of few features it is higher, since a
// sample is drawn without replacement.
func (s Sample) Probability(containment float64) float64 {
	return binomialTail(s.Size, s.Agree, min(max(containment, 0), 1))
}

// Votes returns how many votes each shared feature of a sample counts for. least, at least 1,
// is the fewest features that a pair at the threshold must share with the sample's document.
// If least is below Agree, a shared feature counts for more than one vote. Such a document is
// small and its sample holds all its features, so no pair of it is missed.
func (s Sample) Votes(least int) int {
	return (s.Agree + min(least, s.Agree) - 1) / min(least, s.Agree)
}
