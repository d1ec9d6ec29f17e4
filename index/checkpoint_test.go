package index

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// follower is an index that applies entries, with what it has answered.
type follower struct {
	*Index
	answers []string
}

func (f *follower) check(t *rapid.T, entries [][]byte) {
	b := f.NewCheck()
	for _, e := range entries {
		if err := b.AddEntry(e, nil); err != nil {
			t.Fatal(err)
		}
	}
	verdicts, err := f.Check(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		f.answers = append(f.answers, fmt.Sprintf("%v %d %s %v", v.New, v.Slot, v.Of, []any{v.Similarity, v.Late, v.Known, string(bytes.Join(v.Columns, nil))}))
	}
}

func (f *follower) put(t *rapid.T, entry []byte) {
	b := f.NewBatch()
	if err := b.AddEntry(entry, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.Add(b); err != nil {
		t.Fatal(err)
	}
	f.answers = append(f.answers, fmt.Sprint("replaced ", b.Replaced()))
}

func (f *follower) delete(t *rapid.T, id string) {
	n, err := f.Delete([]byte(id))
	if err != nil {
		t.Fatal(err)
	}
	f.answers = append(f.answers, fmt.Sprint("deleted ", n))
}

// restarted returns the index of a checkpoint of f.
func (f *follower) restarted(t *rapid.T) *follower {
	c, err := f.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := c.Write(&written); err != nil {
		t.Fatal(err)
	}
	written.WriteString("more")
	from := bufio.NewReader(&written)
	x, err := LoadCheckpoint(f.options, from)
	if err != nil {
		t.Fatal(err)
	}
	if rest, _ := from.Peek(5); string(rest) != "more" {
		t.Fatalf("%q is left of the checkpoint", rest)
	}
	if got, want := x.Stats(), f.Stats(); got.Documents != want.Documents || got.Newest != want.Newest || got.Next != want.Next {
		t.Fatalf("%+v, want %+v", got, want)
	}
	return &follower{Index: x}
}

// Indexes that apply the same entries answer the same: whatever was in the index that has made an entry, and though
// one of them is made anew of checkpoints again and again, while buckets are full and documents expire and come back.
func TestIndexesOfOneLogAnswerTheSame(t *testing.T) {
	all := recipes(t)
	rapid.Check(t, func(t *rapid.T) {
		now := int64(1e9)
		o := Options{ByID: true, Recipe: all[rapid.SampledFrom([]string{"sets", "estimate", "votes", "distance"}).Draw(t, "recipe")],
			BucketCap: rapid.IntRange(2, 24).Draw(t, "cap"), Columns: []string{"number"}}
		switch rapid.IntRange(0, 3).Draw(t, "window") {
		case 1:
			o.Window = Window{Docs: rapid.IntRange(1, 30).Draw(t, "docs"), Refresh: rapid.Bool().Draw(t, "refresh")}
		case 2:
			o.Window = Window{Age: time.Duration(rapid.IntRange(1, 40).Draw(t, "age")), Late: 3, Refresh: rapid.Bool().Draw(t, "refresh")}
		}
		o.Window.Now = func() time.Time { return time.Unix(0, now) }
		first, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		maker, err := New(o) // has nothing, and prepares entries
		if err != nil {
			t.Fatal(err)
		}
		running, restarted := &follower{Index: first}, &follower{}
		restarted = running.restarted(t)
		texts, n := newTexter(rapid.Uint64().Draw(t, "seed")), 0
		entry := func() []byte {
			n++
			d := Document{ID: fmt.Appendf(nil, "d%d", rapid.IntRange(max(0, n-20), n).Draw(t, "id")), Text: []byte(texts.next()), Columns: [][]byte{fmt.Append(nil, n)}}
			if rapid.Bool().Draw(t, "timed") {
				d.Time = time.Unix(0, now-int64(rapid.IntRange(-2, 9).Draw(t, "before")))
			}
			b := maker.NewBatch()
			b.Add(d)
			return b.AppendEntry(nil, 0)
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			now += int64(rapid.IntRange(0, 5).Draw(t, "later"))
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				e := entry()
				running.put(t, e)
				restarted.put(t, e)
			case 1:
				id := fmt.Sprint("d", rapid.IntRange(0, n).Draw(t, "deleted"))
				running.delete(t, id)
				restarted.delete(t, id)
			case 2:
				answers := restarted.answers
				restarted = restarted.restarted(t)
				restarted.answers = answers
			default:
				var entries [][]byte
				for range rapid.IntRange(1, 8).Draw(t, "documents") {
					entries = append(entries, entry())
				}
				running.check(t, entries)
				restarted.check(t, entries)
			}
			if !reflect.DeepEqual(running.answers, restarted.answers) {
				t.Fatalf("%s, want %s", restarted.answers[len(restarted.answers)-1], running.answers[len(running.answers)-1])
			}
		}
	})
}

// Without full buckets entries are decided as documents that are checked at once.
func TestEntriesAreDecidedAsDocuments(t *testing.T) {
	o := Options{Recipe: recipes(t)["sets"], ByID: true}
	at, other := made(t, o), made(t, o)
	texts := newTexter(3)
	for i := range 300 {
		d := Document{ID: fmt.Append(nil, i), Text: []byte(texts.next())}
		want, err := at.CheckOne(d)
		if err != nil {
			t.Fatal(err)
		}
		b := other.NewBatch()
		b.Add(d)
		e := b.AppendEntry(nil, 0)
		checked := other.NewCheck()
		if err := checked.AddEntry(e, nil); err != nil {
			t.Fatal(err)
		}
		got, err := other.Check(checked, nil)
		if err != nil || got[0].New != want.New || string(got[0].Of) != string(want.Of) || got[0].Similarity != want.Similarity {
			t.Fatalf("%d: %+v %v, want %+v", i, got[0], err, want)
		}
	}
}

// Batches that were prepared when the collection was another one, entries, and documents that go may come in any order:
// each document is decided as if it had come alone.
func TestEntriesAndDocumentsThatWerePreparedBeforeMix(t *testing.T) {
	o := Options{Recipe: recipes(t)["sets"], ByID: true}
	random := rand.New(rand.NewPCG(17, 3))
	at, other := made(t, o), made(t, o)
	texts := newTexter(9)
	type prepared struct {
		docs    []Document
		batch   *Batch
		isAdded bool
	}
	var waiting []prepared
	n, similar := 0, 0
	for range 400 {
		p := prepared{batch: other.NewCheck(), isAdded: random.IntN(6) == 0}
		if p.isAdded {
			p.batch = other.NewBatch()
		}
		asEntries, sender := random.IntN(2) == 0 && !p.isAdded, other.NewBatch()
		for range 1 + random.IntN(4) {
			n++
			d := Document{ID: fmt.Append(nil, n), Text: []byte(texts.next())}
			p.docs = append(p.docs, d)
			if !asEntries {
				p.batch.Add(d)
				continue
			}
			sender.Add(d)
			if err := p.batch.AddEntry(sender.AppendEntry(nil, sender.Len()-1), nil); err != nil {
				t.Fatal(err)
			}
		}
		waiting = append(waiting, p)
		if random.IntN(3) == 0 {
			continue
		}
		i := random.IntN(len(waiting))
		p = waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		if p.isAdded {
			alone := at.NewBatch()
			for _, d := range p.docs {
				alone.Add(d)
			}
			if err := errors.Join(at.Add(alone), other.Add(p.batch)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		verdicts, err := other.Check(p.batch, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range p.docs {
			want, err := at.CheckOne(d)
			got := verdicts[i]
			if err != nil || got.New != want.New || string(got.Of) != string(want.Of) || got.Similarity != want.Similarity {
				t.Fatalf("%s: %+v %v, want %+v", d.ID, got, err, want)
			}
			if !got.New {
				similar++
			}
		}
		if random.IntN(4) == 0 {
			id := fmt.Append(nil, 1+random.IntN(n))
			want, err := at.Delete(id)
			got, err2 := other.Delete(id)
			if err != nil || err2 != nil || got != want {
				t.Fatalf("%d of %s are deleted, want %d: %v %v", got, id, want, err, err2)
			}
		}
	}
	if similar < 50 {
		t.Errorf("%d documents are similar to others", similar)
	}
}

// What is no entry, and what is no checkpoint, is refused, whichever byte is wrong or missing.
func TestDamagedEntriesAndCheckpointsAreRefused(t *testing.T) {
	o := Options{Recipe: recipes(t)["sets"], ByID: true}
	x := made(t, o)
	texts := newTexter(5)
	b := x.NewCheck()
	for i := range 30 {
		b.Add(Document{ID: fmt.Append(nil, i), Text: []byte(texts.next())})
	}
	if _, err := x.Check(b, nil); err != nil {
		t.Fatal(err)
	}
	e := b.AppendEntry(nil, 2)
	for n := range len(e) - len(texts.made[2]) {
		if err := x.NewBatch().AddEntry(e[:n], nil); err == nil {
			t.Errorf("%d of %d bytes of an entry are taken", n, len(e))
		}
	}
	c, err := x.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	var written bytes.Buffer
	if err := c.Write(&written); err != nil {
		t.Fatal(err)
	}
	whole := written.Bytes()
	for at := 0; at < len(whole); at += 1 + at/50 {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 0x11
		if _, err := LoadCheckpoint(o, bufio.NewReader(bytes.NewReader(damaged))); !errors.Is(err, ErrDamaged) {
			t.Fatalf("byte %d of %d changed: %v", at, len(whole), err)
		}
		if _, err := LoadCheckpoint(o, bufio.NewReader(bytes.NewReader(whole[:at]))); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", at, err)
		}
	}
	other := Options{Recipe: recipes(t)["estimate"], ByID: true}
	if _, err := LoadCheckpoint(other, bufio.NewReader(bytes.NewReader(whole))); err == nil || !strings.Contains(err.Error(), "words") {
		t.Errorf("a checkpoint of another recipe: %v", err)
	}
}
