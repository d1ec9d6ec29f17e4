package dedup

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"slices"

	"github.com/alike-dev/alike/corpus"
	"github.com/alike-dev/alike/dedup/internal/write"
	"github.com/alike-dev/alike/internal/bucketurl"
	"github.com/alike-dev/alike/internal/noclobber"
	"github.com/alike-dev/alike/internal/resume"
	"github.com/alike-dev/alike/internal/setting"
)

// inputs are the files of a run: references before the others, the left before the right.
type inputs struct {
	sources    []corpus.Source
	references int
	left       int // with With: files of Inputs
}

// own returns the files that are not references.
func (in *inputs) own() []corpus.Source { return in.sources[in.references:] }

// bytes returns the size of all files, in their stored form.
func (in *inputs) bytes() (n int64) {
	for _, s := range in.sources {
		n += s.Size
	}
	return n
}

// files are all that a run writes and reads.
func (c *settings) files() noclobber.Files {
	f := noclobber.Files{
		Output:  noclobber.Folder{Path: c.Output, Names: write.OwnedNames()},
		Work:    noclobber.Folder{Path: cmp.Or(c.Folder, c.Finder), Names: resume.Names()},
		Written: c.Outputs, Inputs: slices.Concat(c.Inputs, c.Against, c.With), Read: c.Reads, Stdin: c.Corpus.Stdin != nil,
	}
	if c.Known != nil {
		f.Index.Path, f.Index.Names = c.Known.Folder()
	}
	return f
}

// findInputs looks up the inputs, and checks that no output is one of them.
func findInputs(ctx context.Context, c *settings, a *account) (*inputs, error) {
	check, err := c.files().Check()
	if err != nil {
		return nil, err
	}
	leading, following := c.Against, c.Inputs
	if len(c.With) > 0 {
		leading, following = c.Inputs, c.With
	}
	in, twice := &inputs{}, &seenTwice{leading: map[fileKey][]fs.FileInfo{}}
	options := c.Corpus
	options.Visit = func(path string, info fs.FileInfo) error {
		twice.lead(info)
		return check(path, info)
	}
	var skipped []corpus.Problem
	if len(leading) > 0 {
		if in.sources, skipped, err = corpus.Find(ctx, leading, options); err != nil {
			return nil, err
		}
	}
	options.Visit = func(path string, info fs.FileInfo) error {
		twice.follow(path, info)
		return check(path, info)
	}
	sources, problems, err := corpus.Find(ctx, following, options)
	if err != nil {
		return nil, err
	}
	twice.objects(in.sources, sources)
	references := len(skipped)
	if len(c.With) > 0 {
		in.left, references = len(in.sources), 0
	} else {
		in.references = len(in.sources)
	}
	in.sources = append(in.sources, sources...)
	for i, p := range append(skipped, problems...) {
		if err := a.skip(&p, i < references); err != nil {
			return nil, err
		}
	}
	if len(c.With) > 0 {
		twice.tell(setting.Textf("on both sides of %s: each of its documents is paired with itself", setting.With),
			setting.Textf("on both sides of %s: each of their documents is paired with itself", setting.With), c.OnNotice)
	} else {
		twice.tell(setting.Textf("both an input and a reference: all its documents are removed"),
			setting.Textf("both inputs and references: all their documents are removed"), c.OnNotice)
	}
	return in, nil
}

// seenTwice counts the files that are both references and inputs, or both left and right, by
// whatever names.
type seenTwice struct {
	leading map[fileKey][]fs.FileInfo // references, or those of the left
	first   string
	n       int64
}

// fileKey is equal for equal files.
type fileKey struct{ size, changed int64 }

func keyOf(info fs.FileInfo) fileKey { return fileKey{info.Size(), info.ModTime().UnixNano()} }

func (s *seenTwice) lead(info fs.FileInfo) {
	if info.Mode().IsRegular() {
		s.leading[keyOf(info)] = append(s.leading[keyOf(info)], info)
	}
}

func (s *seenTwice) follow(path string, info fs.FileInfo) {
	if len(s.leading) == 0 || !info.Mode().IsRegular() {
		return
	}
	like := s.leading[keyOf(info)]
	if i := slices.IndexFunc(like, func(other fs.FileInfo) bool { return os.SameFile(info, other) }); i >= 0 {
		s.leading[keyOf(info)] = slices.Delete(like, i, i+1)
		s.add(path)
	}
}

// objects is lead and follow for objects of object stores.
func (s *seenTwice) objects(leading, following []corpus.Source) {
	urls := map[string]bool{}
	for i := range leading {
		if url := leading[i].Path; bucketurl.Is(url) {
			urls[url] = true
		}
	}
	for i := range following {
		if len(urls) > 0 && urls[following[i].Path] {
			s.add(following[i].Path)
		}
	}
}

func (s *seenTwice) add(name string) {
	if s.n++; s.n == 1 {
		s.first = name
	}
}

// tell reports one file with the text one, several files with the text several.
func (s *seenTwice) tell(one, several setting.Text, notice func(Notice)) {
	switch {
	case s.n == 1:
		notice(setting.Textf("%q is %s", s.first, one))
	case s.n > 1:
		notice(setting.Textf("%q and %d more files are %s", s.first, s.n-1, several))
	}
}

// Sources finds the inputs of a run, and checks that no output is one of them, as Run and Pairs do
// before anything is read. It calls config.OnSkip for inputs that cannot be used and counts them.
func Sources(ctx context.Context, config Config) (sources []corpus.Source, references int, skipped int64, err error) {
	s, err := settle(config)
	if err != nil {
		return nil, 0, 0, err
	}
	a := newAccount(s)
	in, err := findInputs(ctx, s, a)
	if err != nil {
		return nil, 0, 0, err
	}
	return in.sources, in.references, a.Skipped, nil
}
