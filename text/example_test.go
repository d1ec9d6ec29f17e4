package text_test

import (
	"fmt"

	"github.com/alike-dev/alike/text"
)

func Example() {
	tokenizer, err := text.New(text.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a := tokenizer.AppendHashes(nil, []byte("Die STRASSE — ﬁn, 東京"))
	b := tokenizer.AppendHashes(nil, []byte("die Straße: fin; 東 京"))
	fmt.Println(len(a), a[1] == b[1], a[2] == b[2], a[4] == b[4])
	// Output: 5 true true true
}

func ExampleTokenizer_AppendTokens() {
	tokenizer, err := text.New(text.Options{StripDiacritics: true, StopWords: []string{"le"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := "Le café, le Château."
	for _, token := range tokenizer.AppendTokens(nil, []byte(doc)) {
		fmt.Println(token.Start, token.End, doc[token.Start:token.End])
	}
	// Output:
	// 3 8 café
	// 13 21 Château
}

func ExampleOptions_String() {
	fmt.Println(text.Options{Tokens: text.Alnum, StripDiacritics: true, MinLength: 2})
	// Output: text/v2 nfkc fold alnum strip min=2 unicode=15.0.0
}

func ExampleOptions_Validate() {
	fmt.Println(text.Options{Tokens: "wrods"}.Validate())
	// Output: text: unknown tokeniser "wrods": use one of words, alnum, uax29, space, chars, graphemes, ascii
}

func ExampleBuiltinStopWords() {
	stop, err := text.BuiltinStopWords("en")
	if err != nil {
		fmt.Println(err)
		return
	}
	tokenizer, err := text.New(text.Options{StopWords: stop})
	if err != nil {
		fmt.Println(err)
		return
	}
	doc := "It is the end of the world as we know it"
	for _, token := range tokenizer.AppendTokens(nil, []byte(doc)) {
		fmt.Println(doc[token.Start:token.End])
	}
	// Output:
	// end
	// world
	// know
}

// What the tokeniser ascii makes tokens of.
func ExampleAppendASCII() {
	fmt.Printf("%s\n", text.AppendASCII(nil, []byte("Déjà\tvu, Again: 3 × é"), true))
	// Output:
	// djvu,again:3
}
