package serve

import (
	"errors"
	"slices"

	"github.com/alike-dev/alike/index"
)

// checkWork checks the documents of lines and adds those that are new.
type checkWork struct {
	c      *collection
	parser *parser
	batch  *index.Batch
	source []byte // the lines as they came
	lines  []checkedLine
	digest []byte // of the documents' texts, one after the other
	filter [][]byte
	one    document

	decided decision
}

// checkedLine is what is known of a line before it is decided.
type checkedLine struct {
	problem  *Problem
	evidence []byte // the line itself, if it asks for evidence; else nil
}

func (c *collection) newCheckWork() lineWork {
	return &checkWork{c: c, parser: newParser(c.settings.Fields), batch: c.changes.newBatch()}
}

// prepare implements lineWork.
func (w *checkWork) prepare(lines []byte) {
	w.batch.Reset()
	w.source, w.lines, w.digest, w.filter = lines, w.lines[:0], w.digest[:0], w.filter[:0]
	eachLine(lines, func(line []byte) {
		var at checkedLine
		if err := w.parser.document(line, "", &w.one); err != nil {
			at.problem, _ = asProblem(err)
		} else {
			w.batch.Add(w.one.Document)
			w.digest = append(w.digest, w.one.Columns[digestColumn]...)
			w.filter = append(w.filter, w.one.filter)
			if w.one.evidence {
				at.evidence = line
			}
		}
		w.lines = append(w.lines, at)
	})
}

// decide implements lineWork.
func (w *checkWork) decide() (err error) {
	w.decided, err = w.c.changes.check(w.batch, w.filter)
	return err
}

// answer implements lineWork.
func (w *checkWork) answer(dst []byte) ([]byte, error) {
	verdicts, err := w.decided.wait()
	if errors.Is(err, errSucceeded) {
		err = w.c.changes.succeeded(func(by *collection) error {
			again := by.newCheckWork()
			again.prepare(w.source)
			if err := again.decide(); err != nil {
				return err
			}
			dst, err = again.answer(dst)
			return err
		})
		return dst, err
	}
	if err != nil {
		return dst, err
	}
	n := 0
	for _, line := range w.lines {
		if line.problem == nil && slices.Contains(w.decided.large, n) {
			line.problem, _ = asProblem(errTooLarge)
			n++
		}
		if line.problem != nil {
			dst = append(line.problem.line(dst), '\n')
			continue
		}
		if dst, err = w.line(dst, line, &verdicts[n], w.digest[n*digestSize:(n+1)*digestSize]); err != nil {
			return dst, err
		}
		n++
	}
	return dst, nil
}

// line appends the answer to a line that was decided.
func (w *checkWork) line(dst []byte, line checkedLine, v *index.Verdict, digest []byte) ([]byte, error) {
	var evidence []byte
	if line.evidence != nil {
		if err := w.parser.document(line.evidence, "", &w.one); err != nil {
			return dst, err // it was read before
		}
		var err error
		if evidence, err = w.c.evidence(&w.one, v); err != nil {
			return dst, err
		}
	}
	w.c.repeats.add(v)
	dst, known := appendAnswer(dst, digest, v, evidence)
	if !known {
		p, _ := asProblem(errConflict)
		dst = append(p.line(dst), '\n')
	}
	return dst, nil
}
