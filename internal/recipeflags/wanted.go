package recipeflags

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/alike-dev/alike/minhash"
	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/simhash"
)

// Wanted says which values a flag takes, given why it has refused one; most is the largest number, if the flag has a
// limit that is not in mostOf.
func Wanted(f *pflag.Flag, refused error, most uint64) string {
	var invalid *pflag.InvalidValueError
	if errors.As(refused, &invalid) {
		refused = invalid.Unwrap()
	}
	switch kind := f.Value.Type(); kind {
	case "float64":
		return "take a number, such as 0.8"
	case "int", "uint64":
		if !errors.Is(refused, strconv.ErrRange) {
			return "take a whole number, such as 8"
		}
		ofKind := map[string]uint64{"int": math.MaxInt, "uint64": math.MaxUint64}[kind]
		return fmt.Sprintf("take a whole number up to %d", cmp.Or(most, mostOf[f.Name], ofKind))
	case "intSlice":
		return "take whole numbers, such as 8 or 8,16"
	case "duration":
		return "take a time, such as 30s or 2m"
	case "bool":
		return "take true or false"
	}
	return refused.Error()
}

// mostOf are the largest values of flags with a limit of their own.
var mostOf = map[string]uint64{
	"window-docs": MostWindowDocs, "ngram": shingle.MostN, "bucket-cap": 1 << 16, "hashes": minhash.MaxK, "bits": simhash.MaxBits,
}
