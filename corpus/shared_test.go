package corpus

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/alike-dev/alike/corpus/internal/delimited"
	"github.com/alike-dev/alike/internal/shareddata"
)

func TestRealFilesReadAsTheTwinWithNothingSkipped(t *testing.T) {
	root := shareddata.Path(t)
	files := 0
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		_, _, record := NameFormat(path)
		if st, err := os.Stat(path); !record || err != nil || !st.Mode().IsRegular() || st.Size() > 200<<10 {
			return nil
		}
		s := mustFind(t, path)
		data, err := os.ReadFile(path)
		must(t, err)
		data = unpack(t, s.Compression, data)
		o := Options{BlockSize: 100_000}
		if s.Format != JSONL { // any column will do
			c := cutter{f: &File{src: s, kind: s.Format.kind(), o: o.withDefaults()}, eof: true}
			comma := byte(delimited.Comma)
			if s.Format == TSV {
				comma = 0
			}
			header, _ := delimited.Header(data[:c.headerLength(data)], comma, nil, "", nil)
			o.TextField = header.Names[0]
		}
		have, err := readAll(t, s, o, 2)
		must(t, err)
		compare(t, path, have, twin(data, s.Format, o))
		for _, g := range have {
			if g.Bad {
				t.Errorf("%s: skipped %v", path, g)
			}
		}
		files++
		return nil
	}))
	t.Log(files, "files")
}
