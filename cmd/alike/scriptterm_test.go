package main

import (
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// hostile is what no terminal should get from data: ESC, a C1 control character, DEL, BEL, an override of
// the direction of writing, a character that is not seen, and a byte that is no UTF-8.
const hostile = "\x1b]0;\u009b31m\x7f\a\u202e\u200b\xff"

// control matches what a terminal obeys or hides; line ends separate the messages.
var control = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{e0001}]`)

// quiets [-report] PROGRAM ARG...: the program runs, with whatever status, and nothing of hostile
// reaches standard error, nor with -report standard output; BAD in its arguments stands for hostile.
// What it says in its place is left for stderr and stdout.
func cmdQuiets(ts *testscript.TestScript, neg bool, args []string) {
	report := len(args) > 0 && args[0] == "-report"
	if report {
		args = args[1:]
	}
	need(ts, !neg && len(args) > 0, "quiets [-report] PROGRAM ARG...")
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "BAD", hostile)
	}
	_ = ts.Exec(args[0], args[1:]...)
	shown := ts.ReadFile("stderr")
	if report {
		shown += ts.ReadFile("stdout")
	}
	if at := control.FindStringIndex(shown); at != nil || !utf8.ValidString(shown) {
		ts.Fatalf("a terminal would get control characters from %q: %q", args, shown)
	}
}

// spoil FILE...: BAD in the files becomes hostile, as far as JSON can say it in .jsonl and .json.
func cmdSpoil(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, !neg && len(args) > 0, "spoil FILE...")
	for _, name := range args {
		with := hostile
		if strings.Contains(name, ".json") {
			with = `\u001b]0;\u009b31m\u007f\u0007\u202e\u200b`
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.ReplaceAll(ts.ReadFile(name), "BAD", with)), 0o666))
	}
}
