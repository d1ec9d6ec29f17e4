package connect

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/index/stream"
)

// consumerURL and consumerState, if set, make the test's program a consumer of the NATS server
// at that address, with its state in that folder, until standard input ends: one of consumers.
const (
	consumerURL   = "ALIKE_TEST_NATS"
	consumerState = "ALIKE_TEST_STATE"
	consumerKind  = "ALIKE_TEST_CONSUMER"
)

var consumers = map[string]func(url, dir string) error{"filter": consumeNATS, "pipeline": runNATS}

func TestMain(m *testing.M) {
	if url := os.Getenv(consumerURL); url != "" {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		fmt.Fprintln(os.Stderr, "consumer:", consumers[os.Getenv(consumerKind)](url, os.Getenv(consumerState)))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// messages returns how many messages a test sends: ALIKE_MESSAGES=1000000 does what a release does.
func messages(t *testing.T, usual int) int {
	t.Helper()
	value := os.Getenv("ALIKE_MESSAGES")
	if value == "" {
		return usual
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatal("ALIKE_MESSAGES: ", err)
	}
	return n
}

// openFilter opens the filter whose state is in a folder, or makes it.
func openFilter(dir string) (*stream.Filter, *index.Index, error) {
	config, err := spec().ParseYAML("path: '"+dir+"'", nil)
	if err != nil {
		return nil, nil, err
	}
	s, err := parseSettings(config)
	if err != nil {
		return nil, nil, err
	}
	c := collection{settings: s}
	err = c.open()
	return c.filter, c.index, err
}

// articles is what a test sends: families of texts that are alike, strangers to each other.
type articles struct{ family []int }

// newArticles has a third of n articles that are near-copies, of anything that came before.
func newArticles(n int) articles {
	random := rand.New(rand.NewPCG(1, 1))
	a := articles{family: make([]int, n)}
	for i := range a.family {
		if a.family[i] = i; i > 0 && random.IntN(3) == 0 {
			a.family[i] = a.family[random.IntN(i)]
		}
	}
	return a
}

// text returns the i-th article, about 600 bytes. Two of a family differ in the last word: 95
// of 97 shingles are in common.
func (a articles) text(i int) []byte {
	var b strings.Builder
	random := rand.New(rand.NewPCG(uint64(a.family[i]), 2))
	for range 99 {
		b.WriteString(strconv.FormatUint(uint64(random.Uint32N(1<<25)), 36))
		b.WriteByte(' ')
	}
	b.WriteString(strconv.Itoa(i))
	return []byte(b.String())
}

// place returns which of the articles a text is, by its last word.
func place(text []byte) (int, error) {
	return strconv.Atoi(string(text[strings.LastIndexByte(string(text), ' ')+1:]))
}

// check tells whether what was sent on is one article of each family, whichever, and how often
// any of them was sent once more.
func (a articles) check(t *testing.T, sent map[int]int) (repeated int) {
	t.Helper()
	of := map[int]int{} // family to the article that was sent
	for i, times := range sent {
		repeated += times - 1
		if other, ok := of[a.family[i]]; ok {
			t.Errorf("articles %d and %d were sent, which are alike", i, other)
		}
		of[a.family[i]] = i
	}
	for i, family := range a.family {
		if _, ok := of[family]; !ok {
			t.Fatalf("article %d was not sent, and none that it is like", i)
		}
	}
	return repeated
}
