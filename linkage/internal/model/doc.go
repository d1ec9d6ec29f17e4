// Package model learns from compared candidates, without labels, which of them are matches: how much evidence each
// level of each column is, and with regard to rivals and to chance how probable each candidate is. Its input is a
// compare.Comparison and plain options. It knows no table, file or setting.
package model
