package setting

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// flag names settings as a command line does.
func flag(field string) string { return "--" + strings.ToLower(field) }

func TestExplainNamesSettingsWhereverTheyStandInAnError(t *testing.T) {
	full := Errorf("%w; name another folder with %s", io.ErrShortWrite, Work)
	damaged := Errorf("table: %w", Errorf("start over with %s, or without %s", Fresh, Work))
	for name, c := range map[string]struct {
		err                error
		inGo, onTheCommand string
	}{
		"alone":          {full, "short write; name another folder with Work", "short write; name another folder with --work"},
		"wrapped":        {fmt.Errorf("output: %w", full), "output: short write; name another folder with Work", "output: short write; name another folder with --work"},
		"one in another": {damaged, "table: start over with Fresh, or without Work", "table: start over with --fresh, or without --work"},
		"two joined": {errors.Join(full, io.EOF, damaged), "short write; name another folder with Work\nEOF\ntable: start over with Fresh, or without Work",
			"short write; name another folder with --work\nEOF\ntable: start over with --fresh, or without --work"},
		"none":                       {io.EOF, "EOF", "EOF"},
		"a file that is called Work": {fmt.Errorf("Work: %w", full), "Work: short write; name another folder with Work", "Work: short write; name another folder with --work"},
		"a name that is none":        {Errorf("with %s, or %s", Name("output"), Keep), "with output, or Keep", "with output, or --keep"},
		"what looks like a verb":     {Errorf("%s: raise %s", "100%d", MaxRecord), "100%d: raise MaxRecord", "100%d: raise --maxrecord"},
	} {
		if got := c.err.Error(); got != c.inGo {
			t.Errorf("%s: Error() is %q, want %q", name, got, c.inGo)
		}
		if got := Explain(c.err, flag); got != c.onTheCommand {
			t.Errorf("%s: Explain gives %q, want %q", name, got, c.onTheCommand)
		}
	}
	if !errors.Is(full, io.ErrShortWrite) {
		t.Error("what an Error wraps is not found")
	}
}

func TestMarkedTextsKeepTheirSettings(t *testing.T) {
	for _, err := range []error{
		fmt.Errorf("output: %w", Errorf("start over with %s, or without %s, or with %s%s", Fresh, Work, Keep, IDField)),
		Errorf("%s %s", MaxRecord, "\x00data\x00 \x00"),
		io.EOF,
		Errorf("%s; %s", Textf("\x00"), Textf("raise %s", MaxRecord)),
	} {
		text := Unmark(Mark(err))
		if text.String() != err.Error() || text.Explain(flag) != Explain(err, flag) {
			t.Errorf("%q became %q, which explains as %q", err, text, text.Explain(flag))
		}
	}
}
