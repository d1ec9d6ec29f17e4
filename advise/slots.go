package advise

import (
	"context"
	"slices"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/internal/places"
)

// Where more than a few texts are alike, each of them tells where a template has slots: in these it differs from the others,
// and they from each other. Where a text differs by noise of its own, the others agree. A copy has in the slots what the
// text has, as it has it before and behind them; another text of the template has it before and behind them only.
//
//	A   … was seen by Mary Smith on Friday …     slot: Mary Smith
//	A'  … was sxen by Mary Snith on Friday …     has it as it has the rest: a copy
//	B   … was seen by John Brown on Friday …     has the rest only
//	C   … was seen by Anne Moore on Friday …
const (
	slotTexts  = 8  // related texts that are compared with one, each with the
	slotAhead  = 2  // next ones; if the first few, slotFirst,
	slotFirst  = 2  // show no slot, there is none
	slotsTell  = 5  // of so many related texts on
	slotsLeast = 2  // slots that tell,
	slotLeast  = 16 // of so many runs
	slotBeside = 3 * places.Chars

	slotAlone  = 2 // a text is alone in a slot in one comparison in so many, at least;
	slotAgreed = 5 // and the others agree there in one of so many of these, at most

	slotsApart = 0.4 // share in the slots, of that beside them, below which two texts are none of each other,
	slotsDoubt = 0.6 // and below which they may be,
	slotsMost  = 2   // if one in so many pairs of all that are connected may be

	noiseMost  = 2   // characters that differ in a slot, on average, below which it is noise of a copy,
	noiseShare = 0.2 // or so large a share of them
)

// slots are the places that each text of a template fills by itself.
type slots struct {
	runs    [][]run
	related [][]uint32 // by document, ascending: those that share much with it
	of      [][]span   // by document, ascending
	texts   [][]byte
	strip   bool
}

// span is a piece of a text, by the places where its runs begin.
type span struct{ from, to uint32 }

// findSlots looks for the slots of all documents.
func (t *thirds) findSlots(ctx context.Context, threads int) (*slots, error) {
	s := &slots{t.runs, make([][]uint32, len(t.runs)), make([][]span, len(t.runs)), t.texts, t.strip}
	for _, p := range t.pairs {
		if p.cover >= noCopy {
			s.related[p.a], s.related[p.b] = append(s.related[p.a], p.b), append(s.related[p.b], p.a)
		}
	}
	err := each(ctx, len(s.related), threads, func() func(int) {
		f := new(slotFinder)
		return func(doc int) {
			slices.Sort(s.related[doc])
			if len(s.related[doc]) >= slotsTell {
				s.of[doc] = f.find(s.runs[doc], s.runs, s.related[doc])
			}
		}
	})
	return s, err
}

// slotFinder compares a text with related ones: scratch of one goroutine.
type slotFinder struct {
	three         triple
	alone, agreed []int // by place: in how many more comparisons than before it the text is alone, and the others agree
}

func (f *slotFinder) find(text []run, runs [][]run, related []uint32) (found []span) {
	n := min(len(related), slotTexts)
	nth := func(i int) []run { return runs[related[i%n*len(related)/n]] }
	for i := range n {
		if i == slotFirst && len(f.spans(slotFirst)) == 0 { // noise of its own
			return nil
		}
		for ahead := 1; ahead <= slotAhead; ahead++ {
			f.three.read([3][]run{text, nth(i), nth(i + ahead)})
			if i == 0 && ahead == 1 {
				size := len(f.three.in[0]) + 1
				f.alone, f.agreed = places.Zeros(f.alone, size), places.Zeros(f.agreed, size)
			}
			f.three.gaps(0, func(from, to uint32, _ int, bridged bool) {
				f.alone[from+1]++
				f.alone[to]--
				if bridged {
					f.agreed[from+1]++
					f.agreed[to]--
				}
			})
		}
	}
	return f.spans(n)
}

// spans returns the slots by the comparisons with so many texts.
func (f *slotFinder) spans(n int) (found []span) {
	alone, agreed, in := 0, 0, false
	for at := range f.alone {
		alone, agreed = alone+f.alone[at], agreed+f.agreed[at]
		switch is := alone*slotAlone >= n*slotAhead && agreed*slotAgreed <= alone; {
		case is && !in:
			found = append(found, span{uint32(at), uint32(at)})
			fallthrough
		case is:
			found[len(found)-1].to = uint32(at) + 1
		}
		in = found != nil && found[len(found)-1].to == uint32(at)+1
	}
	return found
}

// filling is how much of the slots of a text another one has, and of what is beside these.
type filling struct {
	in, inAll, beside, besideAll, slots int

	pieces [][2]span // what stands in such a slot, in either text
}

// filled returns how a document fills those slots of another one which are its own as well. It returns scratch.
func (s *slots) filled(doc, by uint32, has []uint32) (f filling, scratch []uint32) {
	if len(s.of[doc]) == 0 || len(s.of[by]) == 0 {
		return f, has
	}
	has = sharedPlaces(s.runs[doc], s.runs[by], has)
	for _, o := range s.of[doc] {
		from, to := min(int(o.from), len(has)), min(int(o.to), len(has))
		before, behind := max(from-slotBeside, 0), min(to+slotBeside, len(has))
		head, tail := metAt(has[before:from]), metAt(has[to:behind])
		if head.n == 0 || tail.n == 0 || !s.slotAmong(by, head, tail, to-from+2*slotBeside) {
			continue // cut off, perhaps; or noise
		}
		if from+places.Chars <= to && head.n > 0 && tail.first > head.last {
			f.pieces = append(f.pieces, [2]span{
				{uint32(from + places.Chars - 1), uint32(to)},
				{uint32(min(head.last+places.Chars, tail.first)), uint32(tail.first)},
			})
		}
		f.slots++
		f.in, f.inAll = f.in+metAt(has[from:to]).n, f.inAll+to-from
		f.beside, f.besideAll = f.beside+head.n+tail.n, f.besideAll+from-before+behind-to
	}
	return f, has
}

// slotAmong tells whether a document has a slot between what it has before and behind one of another document, or within
// some places of either.
func (s *slots) slotAmong(doc uint32, head, tail met, within int) bool {
	from, to := head.last, tail.first
	switch {
	case head.n == 0:
		from = max(to-within, 0)
	case tail.n == 0:
		to = from + within
	}
	return slices.ContainsFunc(s.of[doc], func(o span) bool { return int(o.from) < to && int(o.to) > from })
}

// met are the places of some runs of a text at which another one has them.
type met struct{ n, first, last int }

func metAt(has []uint32) (f met) {
	for _, at := range has {
		if at > 0 {
			if f.n++; f.n == 1 {
				f.first = int(at) - 1
			}
			f.last = int(at) - 1
		}
	}
	return f
}

// sharedPlaces tells, for each place of a text, where another one first has the run that begins there: the place and one.
func sharedPlaces(a, b []run, has []uint32) []uint32 {
	end := uint32(0)
	for _, r := range a {
		end = max(end, r.at+1)
	}
	has = places.Zeros(has, int(end))
	for ofA, ofB := range shared(a, b) {
		for _, r := range ofA {
			has[r.at] = ofB[0].at + 1
		}
	}
	return has
}

// share returns how a pair shares what is in the slots of either text, of how it shares what is beside them: 1 or so for
// copies. told: there are enough.
func (s *slots) share(p *pair, has *[]uint32) (share float64, pieces [][2]span, told bool) {
	var x, y filling
	x, *has = s.filled(p.a, p.b, *has)
	y, *has = s.filled(p.b, p.a, *has)
	in, inAll := x.in+y.in, x.inAll+y.inAll
	if x.slots+y.slots < slotsLeast || inAll < slotLeast {
		return 0, nil, false
	}
	share = float64(in) / float64(inAll) / (float64(x.beside+y.beside) / float64(x.besideAll+y.besideAll))
	for _, piece := range y.pieces {
		x.pieces = append(x.pieces, [2]span{piece[1], piece[0]})
	}
	return share, x.pieces, true
}

// noisy tells whether what stands in the slots of a pair is mostly the same, but for some characters: then these are no slots,
// but noise of copies in one place.
func (s *slots) noisy(p *pair, pieces [][2]span, e *edits) bool {
	e.a, e.b = e.append(e.a[:0], s.texts[p.a]), e.append(e.b[:0], s.texts[p.b])
	all, longest := 0, 0
	for _, of := range pieces {
		a, b := e.a[min(int(of[0].from), len(e.a)):min(int(of[0].to), len(e.a))], e.b[min(int(of[1].from), len(e.b)):min(int(of[1].to), len(e.b))]
		changed, longer := max(len(a), len(b)), max(len(a), len(b))
		if min(len(a), len(b)) > 0 {
			changed, _ = e.by.Distance(a, b)
		}
		all, longest = all+changed, longest+longer
	}
	return all < noiseMost*len(pieces) || float64(all) <= noiseShare*float64(longest)
}

// slots lowers the cover of pairs of which slots tell that they share a template only, or may. It returns the others.
func (w *witness) slots(ctx context.Context, t *thirds, likely []int, threads int) (others []int, err error) {
	s, err := t.findSlots(ctx, threads)
	if err != nil {
		return nil, err
	}
	most, err := s.judge(ctx, t.pairs, likely, threads)
	if err != nil {
		return nil, err
	}
	w.likely = len(likely)
	for i, at := range likely {
		p := &t.pairs[at]
		switch {
		case most[i] == 1:
			others = append(others, at)
			continue
		case most[i] == noCopy:
			w.apart++
		}
		p.cover, p.template = min(p.cover, most[i]), true
	}
	return others, nil
}

// judge returns how much cover each of some pairs has at most: noCopy if they share a template only, doubt if they may, and 1
// if slots do not tell. Where much noise is in many copies, some places look like slots. Then few pairs of a text are apart,
// but of a template most are.
func (s *slots) judge(ctx context.Context, pairs []pair, of []int, threads int) ([]float64, error) {
	most, told := make([]float64, len(of)), make([]bool, len(of))
	err := each(ctx, len(of), threads, func() func(int) {
		var has []uint32
		e := newEdits(reading(s.strip))
		return func(i int) {
			var share float64
			var pieces [][2]span
			share, pieces, told[i] = s.share(&pairs[of[i]], &has)
			switch {
			case told[i] && share < slotsDoubt && s.noisy(&pairs[of[i]], pieces, e):
				most[i] = 1
			case told[i] && share < slotsApart:
				most[i] = noCopy
			case told[i] && share < slotsDoubt:
				most[i] = doubt
			default:
				most[i] = 1
			}
		}
	})
	spareNoise(len(s.runs), pairs, of, told, most)
	return most, err
}

// spareNoise sets to 1 what pairs have at most, where of those that are connected with one, and of which something is told,
// fewer than half have less: then it is noise.
func spareNoise(docs int, pairs []pair, of []int, told []bool, most []float64) {
	connected := cluster.New(docs)
	for i, at := range of {
		if told[i] {
			connected.Union(pairs[at].a, pairs[at].b)
		}
	}
	all, apart := make([]int, docs), make([]int, docs)
	for i, at := range of {
		if !told[i] {
			continue
		}
		root := connected.Find(pairs[at].a)
		if all[root]++; most[i] < 1 {
			apart[root]++
		}
	}
	for i, at := range of {
		if root := connected.Find(pairs[at].a); slotsMost*apart[root] < all[root] {
			most[i] = 1
		}
	}
}
