//go:build !amd64 || purego

package simd

// majorities are the variants that this machine has.
func majorities() map[string]majorityFunc {
	return map[string]majorityFunc{"chosen": Majority, "Go": checkedTie(majorityGeneric)}
}
