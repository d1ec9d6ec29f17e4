package corpus

import (
	"io"
	"testing"
)

func TestNothingIsAllocatedPerRecordOnceWarm(t *testing.T) {
	for _, f := range []Format{JSONL, CSV, TSV, Lines} {
		data := []byte("id,text,n\n")
		if f == JSONL {
			data = nil
		}
		for range 2000 {
			line := map[Format]string{
				JSONL: `{"id":"a\n","text":"some \"text\" \u00e9","n":[1]}`,
				CSV:   "1,\"a \"\"text\"\"\n\",\"\"\"n\"",
				TSV:   "1\ttext\tn",
				Lines: "text",
			}[f]
			data = append(append(data, line...), '\n')
		}
		if f == TSV {
			data = append([]byte("id\ttext\tn\n"), data[len("id,text,n\n"):]...)
		}
		s := sourceOf(t, "a", data)
		s.Format = f
		o := Options{Fields: []string{"n"}, BlockSize: 8 << 10}
		p := NewParser(o)
		var b Block
		var r Record
		records := 0
		read := func() {
			file, err := Open(t.Context(), s, o)
			must(t, err)
			defer file.Close()
			for {
				if err := file.Next(&b); err == io.EOF {
					return
				}
				p.Start(file, &b)
				for p.Next(&r) {
					must(t, r.Err)
					records++
				}
			}
		}
		// What is left is a few allocations a file.
		if n := testing.AllocsPerRun(5, read); n > 60 {
			t.Errorf("%s: %.0f allocations for 2000 records", f, n)
		}
		if records < 6*2000 {
			t.Errorf("%s: %d records", f, records)
		}

		file, err := Open(t.Context(), s, o)
		must(t, err)
		must(t, file.Next(&b))
		n := testing.AllocsPerRun(10, func() {
			p.Start(file, &b)
			for p.Next(&r) {
			}
		})
		if n != 0 {
			t.Errorf("%s: %.1f allocations to parse a block", f, n)
		}
		file.Close()
	}
}
