package report

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/alike-dev/alike/advise"
)

func TestThePageOfAnAdviceEscapesTextsAndLeadsToPairs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := advise.NewCollector(0)
	for i := range 80 {
		text := make([]byte, 700)
		for j := range text {
			text[j] = "etaoin shrdlu"[random.IntN(13)]
		}
		for copies := range 2 {
			c.Add(fmt.Appendf(nil, "%d-%d%s", i, copies, evil), append([]byte(evil+" "), text...), 0)
			for range 40 {
				text[random.IntN(len(text))] = 'x'
			}
		}
	}
	a, err := advise.Of(context.Background(), c.Sample(1), advise.Options{Threads: 2})
	if err != nil || !a.Told {
		t.Fatalf("%+v: %v", a, err)
	}
	var b bytes.Buffer
	if err := Advice(&b, a, "--tokens chars"); err != nil {
		t.Fatal(err)
	}
	html := b.String()
	for _, never := range []string{"<script", "http:", "https:", "src=", "<b>", "ZgotmplZ"} {
		if strings.Contains(html, never) {
			t.Errorf("the page has %q", never)
		}
	}
	for _, want := range []string{fmt.Sprintf("with %d pairs that are surely copies", a.Copies), "<h1>" + a.Chosen.String(), "<code>--tokens chars</code>", `class="chosen"`, `href="#s`, `<section id="s`, "<mark>", "<polyline", "</html>"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, link := range strings.Split(html, `href="#`)[1:] {
		id, _, _ := strings.Cut(link, `"`)
		if !strings.Contains(html, `<section id="`+id+`"`) {
			t.Errorf("nothing is at %q", id)
		}
	}
}

func TestThePageOfNoTextsIsWhole(t *testing.T) {
	a, err := advise.Of(context.Background(), advise.NewCollector(0).Sample(1), advise.Options{Threads: 1})
	var b bytes.Buffer
	if err == nil {
		err = Advice(&b, a, "")
	}
	if err != nil || !strings.HasSuffix(strings.TrimSpace(b.String()), "</html>") {
		t.Errorf("%s: %v", b.String(), err)
	}
}
