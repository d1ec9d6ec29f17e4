package advise

// Covers of the witness: a pair from surely on is counted as copies, one below perhaps as none, and doubtful between.
// The probability of copies rises from 0 at noCopy to 1 at allCopy.
const (
	surely  = 0.75
	perhaps = 0.5
	noCopy  = 0.3
	allCopy = 0.7
	doubt   = (noCopy + allCopy) / 2
)

// judgement says with what probability each pair of a sample is copies.
type judgement struct {
	copies    []float64
	resampled [][]float64 // by examples that were drawn again from the examples; none: by the witness
}

func byWitness(pairs []pair) *judgement {
	j := &judgement{copies: make([]float64, len(pairs))}
	for i, p := range pairs {
		j.copies[i] = min(max((p.cover-noCopy)/(allCopy-noCopy), 0), 1)
	}
	return j
}
