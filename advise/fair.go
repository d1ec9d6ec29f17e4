package advise

import (
	"cmp"
	"slices"

	"github.com/alike-dev/alike/internal/hashing"
	"github.com/alike-dev/alike/internal/sorting"
	"github.com/alike-dev/alike/shingle"
)

// Limits of a fair sample.
const (
	fairMost  = 2000
	fairLeast = 200 // by fewer it is not counted
	fairShare = 4   // its bytes are one in so many of those of the sample
)

// fair is a sample of texts that are drawn one by one, by their digests. In a Sample texts come with others that have the
// same least feature, and of a template that lacks it few: there they look rare. By a fair sample it is counted what many
// texts have.
type fair struct {
	texts   []fairText
	bytes   int
	most    int    // bytes
	dropped uint64 // the least order that was dropped; 0: none
}

type fairText struct {
	order uint64
	text  []byte
}

// add offers a text. It keeps no reference to it.
func (f *fair) add(digest uint64, text []byte) {
	order := hashing.Mix(digest)
	if f.dropped > 0 && order >= f.dropped {
		return
	}
	f.texts = append(f.texts, fairText{order, slices.Clone(text)})
	if f.bytes += len(text); len(f.texts) > 2*fairMost || f.bytes > 2*f.most {
		f.trim()
	}
}

// trim drops the texts that come last.
func (f *fair) trim() {
	sorting.Func(f.texts, func(a, b fairText) int { return cmp.Compare(a.order, b.order) })
	f.bytes = 0
	for i, t := range f.texts {
		if i == fairMost || f.bytes+len(t.text) > f.most {
			f.dropped = t.order
			clear(f.texts[i:])
			f.texts = f.texts[:i]
			return
		}
		f.bytes += len(t.text)
	}
}

// counted returns texts by which it is counted what many texts have, and how many of them have a rare feature at most. nil:
// the documents of the sample, as there are no others, or too few fair ones.
func (s *Sample) counted() (texts [][]byte, most int) {
	if s.kept == 1 || len(s.fair) < fairLeast {
		return nil, int(shingle.RareMost(uint64(len(s.Documents))))
	}
	share := float64(len(s.fair)) / max(s.Distinct, 1)
	return s.fair, max(int(float64(shingle.RareMost(uint64(s.Distinct)))*share), 1)
}
