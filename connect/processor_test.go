package connect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redpanda-data/benthos/v4/public/service"
)

// made returns a processor with a configuration, which is closed when the test ends.
func made(t *testing.T, mgr *service.Resources, config string) *processor {
	t.Helper()
	p, err := tryMade(mgr, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func tryMade(mgr *service.Resources, config string) (*processor, error) {
	c, err := spec().ParseYAML(config, nil)
	if err != nil {
		return nil, err
	}
	return newProcessor(c, mgr)
}

// delivered is a message of a topic of Kafka.
func delivered(offset int, content string) *service.Message {
	m := service.NewMessage([]byte(content))
	m.MetaSetMut("kafka_topic", "articles")
	m.MetaSetMut("kafka_partition", 0)
	m.MetaSetMut("kafka_offset", offset)
	return m
}

// passed has a processor handle messages and tells of those that pass their contents, with what
// was added to them.
func passed(t *testing.T, p *processor, batch ...*service.Message) (all []string) {
	t.Helper()
	batches, err := p.ProcessBatch(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range batches {
		for _, m := range batch {
			b, err := m.AsBytes()
			if err != nil {
				t.Fatal(err)
			}
			line := string(b)
			if of, ok := m.MetaGetMut(metaDuplicateOf); ok {
				similarity, _ := m.MetaGetMut(metaSimilarity)
				line += fmt.Sprintf(" like %v by %.2f", of, similarity)
			}
			if err := m.GetError(); err != nil {
				line += " failed: " + err.Error()
			}
			all = append(all, line)
		}
	}
	return all
}

const (
	story   = "a b c d e f g h i j k l m n o p q r s t"
	reprint = "a b c d e f g h i j k l m n o p q r s u"
	other   = "z y x w v u t s r q p o n m l k j i h g"
)

func TestDuplicatesAreDroppedAndMessagesThatComeAgainPassAgain(t *testing.T) {
	for _, path := range []string{"", t.TempDir() + "/state"} {
		p := made(t, service.MockResources(), "path: '"+path+"'")
		for i, c := range []struct {
			batch []*service.Message
			want  []string
		}{
			{[]*service.Message{delivered(1, story), delivered(2, reprint), delivered(3, other)}, []string{story, other}},
			{[]*service.Message{delivered(1, story), delivered(2, reprint)}, []string{story}},
			{[]*service.Message{delivered(4, story)}, nil},
			{nil, nil},
		} {
			if got := passed(t, p, c.batch...); !slices.Equal(got, c.want) {
				t.Errorf("path %q, batch %d: %q, want %q", path, i, got, c.want)
			}
		}
	}
}

func TestDuplicatesPassWithATag(t *testing.T) {
	p := made(t, service.MockResources(), "tag: true\nid: root = this.name\ntext: root = this.text")
	got := passed(t, p, delivered(1, `{"name":7,"text":"`+story+`"}`), delivered(2, `{"text":"`+reprint+`"}`))
	want := []string{`{"name":7,"text":"` + story + `"}`, `{"text":"` + reprint + `"} like 7 by 0.88`}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWindowsEndByTheTimeOfEvents(t *testing.T) {
	p := made(t, service.MockResources(), `
text: root = this.text
time: root = this.at
window: { docs: 0, age: 24h }`)
	at := func(offset int, time string) *service.Message {
		return delivered(offset, `{"at":`+time+`,"text":"`+story+`"}`)
	}
	got := passed(t, p, at(1, `"2020-01-01T00:00:00Z"`), at(2, `"2020-01-01T20:00:00Z"`), at(3, `1577997000`))
	if len(got) != 2 || !strings.Contains(got[1], "1577997000") {
		t.Errorf("%q", got)
	}
}

func TestMessagesThatCannotBeDecidedAreMarked(t *testing.T) {
	p := made(t, service.MockResources(), "text: root = this.text\ntime: root = this.at\nwindow: { age: 1h }")
	for content, want := range map[string]string{
		`{"body":"x"}`:            "text: the mapping gives null",
		`{"text":{"x":1}}`:        "text: it is a map[string]interface {}, and neither text nor a number",
		`no JSON`:                 "invalid character",
		`{"text":"x","at":"now"}`: "time: no time: now is in no form that is read",
	} {
		got := passed(t, p, delivered(1, content), delivered(2, `{"text":"`+content[:2]+`"}`))
		if len(got) == 0 || !strings.HasPrefix(got[0], content+" failed: ") || !strings.Contains(got[0], want) {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
	durable := made(t, service.MockResources(), "path: '"+t.TempDir()+"'")
	inNATS := service.NewMessage([]byte(`x`)) // without JetStream: all of a subject would be one
	inNATS.MetaSetMut("nats_subject", "news/sport")
	for _, m := range []*service.Message{service.NewMessage([]byte(`x`)), inNATS} {
		if got := passed(t, durable, m); len(got) != 1 || !strings.Contains(got[0], "set delivery") {
			t.Errorf("without a place: %q", got)
		}
	}
}

func TestProcessorsOfOneCollectionShareIt(t *testing.T) {
	mgr := service.MockResources()
	dir := t.TempDir()
	a, b := made(t, mgr, "path: "+dir), made(t, mgr, "path: "+dir)
	if got := passed(t, a, delivered(1, story)); len(got) != 1 {
		t.Errorf("%q", got)
	}
	if got := passed(t, b, delivered(2, reprint)); len(got) != 0 {
		t.Errorf("%q", got)
	}
	_, err := tryMade(mgr, "path: "+dir+"\nthreshold: 0.5")
	if err == nil || !strings.Contains(err.Error(), "with other settings") {
		t.Errorf("other settings: %v", err)
	}
	if _, err := tryMade(service.MockResources(), "path: "+dir); err == nil {
		t.Error("another program opens it")
	}
}

func TestSimHashDecidesByDistance(t *testing.T) {
	p := made(t, service.MockResources(), "distance: 0")
	if got := passed(t, p, delivered(1, story), delivered(2, story), delivered(3, reprint)); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	for config, want := range map[string]string{
		"threshold: 1.5":      "threshold",
		"ngram: -1":           "ngram is -1",
		"window: { docs: -1}": "window",
		"text: root = (":      "text",
	} {
		if _, err := tryMade(service.MockResources(), config); err == nil || !strings.Contains(strings.ToLower(err.Error()), want) {
			t.Errorf("%s: error %v, want one with %q", config, err, want)
		}
	}
}
