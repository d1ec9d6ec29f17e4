package main

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columnsOf returns how many columns of a terminal a visible text takes: characters of East Asian scripts and pictures
// take two, marks none.
func columnsOf(text string) (columns int) {
	for _, r := range text {
		columns += columnsOfRune(r)
	}
	return columns
}

func columnsOfRune(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// shorten cuts a text that takes more than so many columns, and says so by an ellipsis.
func shorten(text string, columns int) string {
	if columnsOf(text) <= columns {
		return text
	}
	taken := 1 // by the ellipsis
	for i, r := range text {
		if taken += columnsOfRune(r); taken > columns {
			return text[:i] + "…"
		}
	}
	return text
}

// padded puts spaces behind a text until it takes so many columns.
func padded(text string, columns int) string {
	return text + strings.Repeat(" ", max(0, columns-columnsOf(text)))
}
