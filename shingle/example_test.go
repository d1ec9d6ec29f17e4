package shingle_test

import (
	"fmt"

	"github.com/alike-dev/alike/shingle"
	"github.com/alike-dev/alike/text"
)

func Example() {
	s, err := shingle.New(shingle.Options{N: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := shingle.Set(s.AppendFeatures(nil, []byte("The quick brown fox jumps over the lazy dog.")))
	b := shingle.Set(s.AppendFeatures(nil, []byte("the QUICK brown fox; jumps over the sleeping dog")))
	inter := 0
	for _, f := range a {
		for _, g := range b {
			if f == g {
				inter++
			}
		}
	}
	fmt.Printf("%d of %d shingles\n", inter, len(a)+len(b)-inter)
	// Output: 5 of 9 shingles
}

func ExampleOptions_String() {
	fmt.Println(shingle.Options{N: 54, Repetitions: true, Text: text.Options{Tokens: text.Chars}})
	// Output: text/v2 nfkc fold chars n=54 reps unicode=15.0.0
}

func ExampleSet() {
	fmt.Println(shingle.Set([]uint64{30, 10, 20, 10, 30}))
	// Output: [10 20 30]
}
