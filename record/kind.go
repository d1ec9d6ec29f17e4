package record

import (
	"fmt"
	"slices"
	"strings"
)

// Kind says how the values of a column are cut into tokens.
type Kind string

// The kinds. The zero value is Text.
const (
	Text   Kind = "text"   // words, and the 3-grams within words; words joined by - or / also as one
	Units  Kind = "units"  // as Text, and a number with a unit behind it also as one word: 128 GB and 128GB
	Words  Kind = "words"  // words, joined ones also as one
	Grams  Kind = "grams"  // the 3-grams within words, also of joined words as one
	Code   Kind = "code"   // numbers and letters only, as one word: its 3-grams and itself
	Number Kind = "number" // a number in any notation: $1,200.00 is 1200; text if the value is no number
	// Quantity is a number with its unit: 250 g and 250g are 250, as all values of the column have the same unit or none; text if the
	// value is neither.
	Quantity Kind = "quantity"
	Date     Kind = "date"  // year, month and day in any order, with or without separators and time; text if the value is no date
	Time     Kind = "time"  // a time of day or a duration: 7:05 pm is 19:05:00; text if the value is neither
	Value    Kind = "value" // the whole value, one token

	// Place is a pair of coordinates, such as 48.86, 2.35 or POINT(2.35 48.86). What is compared is Latitude and Longitude,
	// the two numbers of such a column, each as a column of numbers; a Place itself is cut as Text.
	Place     Kind = "place"
	Latitude  Kind = "latitude"
	Longitude Kind = "longitude"
)

// OfWords reports whether values of the kind differ by their words, and not only as a whole.
func (k Kind) OfWords() bool {
	return k == "" || k == Text || k == Units || k == Words || k == Grams || k == Place
}

var kinds = []Kind{Text, Units, Words, Grams, Code, Number, Quantity, Date, Time, Value, Place, Latitude, Longitude}

// ParseKind returns the kind with a name; the error lists the names.
func ParseKind(name string) (Kind, error) {
	if k := Kind(name); slices.Contains(kinds, k) {
		return k, nil
	}
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return "", fmt.Errorf("unknown tokens %q: want one of %s", name, strings.Join(names, ", "))
}

// Measured reports whether values of the kind have distances: see Column.Point.
func (k Kind) Measured() bool {
	return k == Number || k == Quantity || k == Date || k == Time || k == Latitude || k == Longitude
}
