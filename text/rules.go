package text

// rules are what the caller has asked for, in the forms in which all paths use them.
type rules struct {
	options Options
	table   *table
	pipe    memo
	stop    map[uint64]struct{}
}

// separator is a byte that is part of no code point, and so separates tokens.
var separator = []byte{0xff}
