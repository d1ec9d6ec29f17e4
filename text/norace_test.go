//go:build !race

package text

const thin = 1
