package exlsh

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/text"
)

// ParseOptions reads a line that String has printed. The line holds only names of the
// caller's own steps and a hash of stop words; for those, ParseOptions returns an error
// that says to set them in Options.
func ParseOptions(line string) (Options, error) {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != Version {
		return Options{}, fmt.Errorf("exlsh: %q is not a line of %s, the version that this program knows", line, Version)
	}
	var o Options
	filter := ""
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		var err error
		switch key {
		case "normalize":
			o.Normalizer, err = parseNormalizer(value)
		case "tokens":
			o.Tokenizer, err = parseTokenizer(value)
		case "filter":
			filter = value // made once the normaliser is known, which may follow
		case "n":
			o.N, err = parseN(value)
		case "hash":
			o.Hash, err = ParseHash(value)
		default:
			err = fmt.Errorf("exlsh: unknown word %q: use normalize=, tokens=, filter=, n=, hash=", word)
		}
		if err != nil {
			return Options{}, err
		}
	}
	if filter != "" {
		var err error
		if o.Filter, err = parseFilter(filter, o.Normalizer); err != nil {
			return Options{}, err
		}
	}
	return o, o.Validate()
}

func parseN(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("exlsh: n=%s: the number of tokens a shingle is 1 or more", value)
	}
	return n, nil
}

func parseNormalizer(name string) (Normalizer, error) {
	switch name {
	case WordCharacters.name:
		return WordCharacters, nil
	case Verbatim.name:
		return Verbatim, nil
	}
	o, err := parseText("normaliser", name)
	if err != nil {
		return Normalizer{}, err
	}
	return NormalizeText(o)
}

func parseTokenizer(name string) (Tokenizer, error) {
	switch name {
	case Words.name:
		return Words, nil
	case Graphemes.name:
		return Graphemes, nil
	}
	o, err := parseText("tokeniser", name)
	if err != nil {
		return Tokenizer{}, err
	}
	return TokenizeText(o)
}

// parseText undoes lineName.
func parseText(what, name string) (text.Options, error) {
	if !strings.HasPrefix(name, "text/") {
		return text.Options{}, fmt.Errorf("exlsh: the %s %q is not one of this package: set it in Options", what, name)
	}
	return text.ParseOptions(strings.ReplaceAll(name, ",", " "))
}

// parseFilter makes the filter of that name if the filter needs no stop words.
func parseFilter(name string, n Normalizer) (Filter, error) {
	_, min, _ := strings.Cut(name, ",min:")
	if length, err := strconv.Atoi(min); err == nil {
		if f := Without(n, nil, length); f.name == name {
			return f, nil
		}
	}
	return Filter{}, fmt.Errorf("exlsh: the filter %q is only named by the line: set it in Options", name)
}
