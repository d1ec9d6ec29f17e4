// Package lsh finds candidate pairs among signatures without comparing every pair:
// locality-sensitive hashing by banding (Leskovec, Rajaraman, Ullman, "Mining of Massive
// Datasets", chapter 3).
//
// A signature is cut into bands of r rows (components) each. Every band is hashed to a
// 64-bit key, and documents with equal keys are in one bucket. Two documents are a
// candidate pair when they share at least m of b keys. If s is the probability that two
// components agree, which is the Jaccard similarity, that happens with probability
//
//	P(s) = Σ_{j ≥ m} C(b, j)·(sʳ)ʲ·(1 − sʳ)^(b−j),    for m = 1:  1 − (1 − sʳ)ᵇ
//
// the S-curve. This holds for independent components. Those of minhash's one-permutation
// sketches vary less, and the recall measured at the threshold is a little above P.
//
// [Tune] chooses b and r from a threshold and the recall wanted there. It tunes for
// recall only: the caller should verify candidates, which restores precision, so a false
// candidate costs time but gives no wrong result.
//
// # Other names for these settings
//
// Near-duplicate features, also called super-shingles (Broder, Glassman, Manasse, Zweig
// 1997; Fetterly, Manasse, Najork 2003), are k groups of s components of which two must
// agree: Params{Bands: k, Rows: s, MinBands: 2}. Clustering by counting shared components
// (Broder et al. 1997) at threshold t: Params{Bands: k, Rows: 1, MinBands: ⌈t·k⌉}, which
// is the estimate itself. A pair at t passes half of the time, so use fewer where
// candidates are verified.
//
// # When not to use it
//
// At low thresholds banding degrades to one row a band, where every common feature makes
// a bucket; Tune then says so ([ErrRecallOutOfReach], or Rows = 1), and an exact join by
// prefix filter (package simjoin) costs less. Signatures of empty sets mean nothing:
// leave empty sets out.
//
// # What stays compatible
//
// The keys of AppendKeys are part of the index format and do not change; tests
// pin them.
package lsh

import (
	"fmt"
	"math"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
)

// Params say how signatures are banded.
type Params struct {
	Bands int // b, the number of bands, at least 1
	Rows  int // r, the number of components of a band, at least 1
	// MinBands is m, the number of bands in which two signatures must agree to
	// be candidates, 1 to Bands. 0 means 1.
	MinBands int
}

// minBands returns m.
func (p Params) minBands() int { return max(p.MinBands, 1) }

// Validate reports whether the parameters can be used with signatures of k components.
func (p Params) Validate(k int) error {
	switch {
	case p.Bands < 1 || p.Rows < 1:
		return fmt.Errorf("lsh: %d bands of %d rows: both must be at least 1", p.Bands, p.Rows)
	case p.Rows > k || p.Bands > k/p.Rows:
		return fmt.Errorf("lsh: %d bands of %d rows need more components than the %d of a signature: bands times rows must not exceed it",
			p.Bands, p.Rows, k)
	case p.MinBands < 0 || p.MinBands > p.Bands:
		return fmt.Errorf("lsh: %d agreeing bands of %d: must be 0 (for 1) to %d", p.MinBands, p.Bands, p.Bands)
	}
	return nil
}

// String returns "bands=16 rows=6", with "minbands=2" if more than one band must
// agree.
func (p Params) String() string {
	line := fmt.Sprintf("bands=%d rows=%d", p.Bands, p.Rows)
	if p.minBands() > 1 {
		line += fmt.Sprintf(" minbands=%d", p.MinBands)
	}
	return line
}

// ComponentAgreement returns the probability that components of the given number of bits
// agree for sets of Jaccard similarity s: s + (1−s)·2^-bits, and s itself for 32 bits.
// Pass it to Probability for components of few bits.
func ComponentAgreement(s float64, bits int) float64 {
	if bits >= 32 {
		return s
	}
	return s + (1-s)*math.Ldexp(1, -bits)
}

// Probability returns the probability, in [0, 1], that two signatures whose components
// agree with probability s are candidates. It costs O(1) for MinBands ≤ 1 and O(MinBands)
// otherwise.
func (p Params) Probability(s float64) float64 {
	band := math.Pow(min(max(s, 0), 1), float64(p.Rows))
	if p.minBands() == 1 {
		return -math.Expm1(float64(p.Bands) * math.Log1p(-band))
	}
	return binomialTail(p.Bands, p.MinBands, band)
}

// binomialTail returns the probability of at least m successes in n trials of
// success probability p.
func binomialTail(n, m int, p float64) float64 {
	if p <= 0 || p >= 1 {
		return p // 0 or 1
	}
	below := 0.0
	logP, logQ := math.Log(p), math.Log1p(-p)
	top, _ := math.Lgamma(float64(n + 1))
	for j := range m {
		a, _ := math.Lgamma(float64(j + 1))
		b, _ := math.Lgamma(float64(n - j + 1))
		below += math.Exp(top - a - b + float64(j)*logP + float64(n-j)*logQ)
	}
	return min(max(1-below, 0), 1)
}

// Point is a point of the S-curve.
type Point struct {
	Similarity  float64 // probability that a component agrees
	Probability float64 // probability that the pair is a candidate
}

// Curve returns steps+1 points of the S-curve at similarities 0, 1/steps, …, 1.
// steps must be at least 1. For components of few bits the similarities are the
// probabilities of [ComponentAgreement].
func (p Params) Curve(steps int) []Point {
	points := make([]Point, steps+1)
	for i := range points {
		s := float64(i) / float64(steps)
		points[i] = Point{s, p.Probability(s)}
	}
	return points
}

// AppendKeys appends one 64-bit key a band to dst: a hash of the band's rows and of its
// number, so that keys of different bands differ when they are sorted together. Band i
// holds components i·Rows to (i+1)·Rows−1 of sig; components after the last band are not
// used. It panics when sig is too short. Keys are uniform: their top bits may serve as
// bucket numbers.
func (p Params) AppendKeys(dst []uint64, sig []uint32) []uint64 {
	n, rows := len(dst), p.Rows
	dst = slices.Grow(dst, p.Bands)[:n+p.Bands]
	sig = sig[:p.Bands*rows]
	fours, rest := rows/4, rows%4
	h0, j := hashing.Key2, 0
	for i := n; i < len(dst); i++ {
		h0 += hashing.Key0
		h := h0
		for range fours {
			r := sig[j : j+4 : j+4]
			h = hashing.Fold(pair(r[0], r[1])^h, pair(r[2], r[3])^hashing.Key1)
			j += 4
		}
		switch r := sig[j : j+rest]; len(r) {
		case 1:
			h = hashing.Fold(uint64(r[0])^h, hashing.Key3)
		case 2:
			h = hashing.Fold(pair(r[0], r[1])^h, hashing.Key3)
		case 3:
			h = hashing.Fold(pair(r[0], r[1])^h, uint64(r[2])^hashing.Key1)
		}
		j += rest
		dst[i] = h
	}
	return dst
}

// pair packs two components into a word.
func pair(lo, hi uint32) uint64 { return uint64(lo) | uint64(hi)<<32 }

// Agree returns the number of bands in which two documents' keys agree. Both must
// have the same number of keys.
func Agree(a, b []uint64) int {
	agree := 0
	b = b[:len(a)]
	for i, x := range a {
		if x == b[i] {
			agree++
		}
	}
	return agree
}
