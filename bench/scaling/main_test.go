package main

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/wcharczuk/go-chart/v2"
)

func TestTableAndPlotsAreWhatTheCellsSay(t *testing.T) {
	o := &options{threads: []int{1, 2, 4}, folders: []string{"a/small", "a/large"}, plot: filepath.Join(t.TempDir(), "x")}
	cells := [][]cell{{{4, 4}, {2, 4}, {2, 5}}, {{1, 1}, {1, 1}, {0.5, 1}, {8, 16}}}
	want := `folder,threads,seconds,processor_seconds,speedup,efficiency
small,1,4.0000,4.0000,1.000,1.000
small,2,2.0000,4.0000,2.000,1.000
small,4,2.0000,5.0000,2.000,0.500
large,1,1.0000,1.0000,1.000,1.000
large,2,1.0000,1.0000,1.000,0.500
large,4,0.5000,1.0000,2.000,0.500
large,beside,8.0000,16.0000,0.125,
`
	if got := string(table(o, cells)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := plot(o, cells); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"speedup", "efficiency"} {
		svg, err := os.ReadFile(o.plot + "-" + what + ".svg")
		if err != nil || !strings.Contains(string(svg), "</svg>") || !strings.Contains(string(svg), "large") {
			t.Errorf("%s: %v, %d bytes", what, err, len(svg))
		}
	}
}

func TestLabelsOfThePlotsDoNotOverlap(t *testing.T) {
	labels := func(ticks []chart.Tick) (s string) {
		for _, tick := range ticks {
			s += tick.Label + " "
		}
		return s
	}
	threads := []int{1, 2, 4, 8, 15, 16, 64}
	x := make([]float64, len(threads))
	for i, n := range threads {
		x[i] = math.Log2(float64(n))
	}
	if got := labels(threadTicks(threads, x)); got != "1 2 4 8 15 64 " {
		t.Errorf("threads %s", got)
	}
	for most, want := range map[float64]string{
		1: "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 ", 16: "0 2 4 6 8 10 12 14 16 ", 2.1: "0 0.5 1 1.5 2 2.5 ",
	} {
		if got := labels(valueTicks(most)); got != want {
			t.Errorf("%v: %s", most, got)
		}
	}
}

func TestArgumentsBehindTwoDashesAreForAlike(t *testing.T) {
	o, err := parse([]string{"-threads", "1,3", "-rounds", "2", "x", "y", "--", "--ngram", "3"})
	if err != nil || strings.Join(o.folders, " ") != "x y" || strings.Join(o.flags, " ") != "--ngram 3" || o.threads[1] != 3 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range [][]string{{}, {"-threads", "0", "x"}, {"-threads", "two", "x"}, {"-rounds", "0", "x"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestOutputsThatDifferAreAnError(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	program := filepath.Join(t.TempDir(), "alike")
	script := "#!/bin/sh\nwhile [ \"$1\" != -o ]; do shift; done\necho $$ > \"$2\"\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	err := run([]string{"-alike", program, "-threads", "1,2", "-rounds", "1", "-plot", "", t.TempDir()}, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), "2 threads give another output") {
		t.Errorf("error %v", err)
	}
}
