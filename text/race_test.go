//go:build race

package text

// thin is by how much the long comparisons with the twin are cut down: under the
// race detector, which looks for something else, the twin runs at a twentieth of
// its speed.
const thin = 16
