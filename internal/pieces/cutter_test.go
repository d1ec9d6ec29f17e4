package pieces

import (
	"slices"
	"testing"
)

// unitsOf returns the units of a text, as a cut would take them.
func unitsOf(o Options, text string) (units []string) {
	for _, p := range NewCutter(o).Pieces([]byte(text)) {
		units = append(units, text[p.Start:p.End])
	}
	return units
}

func TestSentencesAreThoseOfReaders(t *testing.T) {
	for text, want := range map[string][]string{
		"One two. Three four! Five":                           {"One two. ", "Three four! ", "Five"},
		"One line\nand the next. Two\r\nmore.\n":              {"One line\nand the next. ", "Two\r\nmore."},
		"Dr. Smith met Prof. Jones, e.g. Here. Then left.":    {"Dr. Smith met Prof. Jones, e.g. Here. ", "Then left."},
		"# A title\nProse here.\n- an item. Of two\n2. Other": {"# A title\n", "Prose here.", "- an item. Of two\n", "2. Other"},
		"第一句话。第二句话！第三":                                        {"第一句话。", "第二句话！", "第三"},
		"यह एक है। वह दो है।":                                 {"यह एक है। ", "वह दो है।"},
		"هذا واحد؟ ذلك اثنان۔ ثلاثة":                          {"هذا واحد؟ ", "ذلك اثنان۔ ", "ثلاثة"},
		"ཀ་ཁ་ག། ང་ཅ་ཆ།":                                       {"ཀ་ཁ་ག། ", "ང་ཅ་ཆ།"},
		"አንድ ሁለት። ሦስት":                                        {"አንድ ሁለት። ", "ሦስት"},
		"ประโยคแรก ต่อ\nบรรทัดสอง\nEnglish here.":             {"ประโยคแรก ต่อ\n", "บรรทัดสอง\n", "English here."},
		"Before.\n```\nIn code. More.\n```\nBehind.":          {"Before.", "Behind."},
		"Before.\n| a | b |\nBehind.":                         {"Before.", "Behind."},
		"  indented text. And more.":                          {"indented text. ", "And more."},
	} {
		if got := unitsOf(Options{Unit: Sentence, Tokens: 1}, text); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func TestParagraphsEndAtLinesOfWhiteSpaceButNotInCode(t *testing.T) {
	text := "one\ntwo\n \t\nthree\u2029\u3000\u2028four\n\n```\na\n\nb\n```\n\nfive"
	if got := unitsOf(Options{Unit: Paragraph, Tokens: 1}, text); !slices.Equal(got, []string{"one\ntwo\n", "three\u2029", "four\n", "five"}) {
		t.Errorf("%q", got)
	}
	if got := unitsOf(Options{Unit: Paragraph, Tokens: 1, Code: true}, text); len(got) != 5 || got[3] != "```\na\n\nb\n```\n" {
		t.Errorf("with code: %q", got)
	}
}

func TestAUnitIsItsWords(t *testing.T) {
	c := NewCutter(Options{Unit: Line, Tokens: 2})
	first := slices.Clone(c.Pieces([]byte("Straße,  und “mehr”\nother words\nSTRASSE und mehr!")))
	if len(first) != 3 || first[0].Hash != first[2].Hash || first[0].Hash == first[1].Hash {
		t.Errorf("%+v", first)
	}
}
