package minhash

// NewSketcher returns a sketcher of the scheme. It panics for the zero Scheme.
// Memory: O(k) and, for k-mins, O(largest set).
func (s Scheme) NewSketcher() Sketcher {
	switch s.method {
	case methodOPH:
		return newOPHSketcher(s)
	case methodMultiplyShift:
		return newMultiplySketcher(s)
	case methodXOR, methodPlainXOR:
		return newXORSketcher(s)
	case methodWeighted:
		return s.NewWeightedSketcher()
	case methodBottomKXXH3, methodBottomKFNV, methodBottomKListing:
		return s.NewBottomKSketcher()
	}
	panic("minhash: NewSketcher of the zero Scheme")
}
