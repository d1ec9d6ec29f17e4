package measure

import "strconv"

// AppendSimilarity appends a similarity as all lists print it: with six decimals.
func AppendSimilarity(dst []byte, similarity float64) []byte {
	return strconv.AppendFloat(dst, similarity, 'f', 6, 64)
}
