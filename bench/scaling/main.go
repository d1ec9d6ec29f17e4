// Command scaling runs alike over folders with several numbers of threads, and
// prints and plots speed-up and efficiency as reports on parallel programs do:
//
//	speed-up(t) = seconds with one thread / seconds with t,   efficiency(t) = speed-up(t) / t
//
// Run it in its own folder, since it is a module of its own:
//
//	go run . [flags] FOLDER... [-- FLAGS OF alike pairs]
//
// A round runs all folders and numbers of threads; figures are the least of all
// rounds. The output must be the same bytes for every number of threads. With -beside
// every round runs another program too, and the table has the ratio of its time.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// options is the command line, parsed.
type options struct {
	alike   string // "": built from repo
	repo    string
	threads []int
	rounds  int
	plot    string // prefix of the plots' names; "": none
	csv     string
	beside  []string // another program, {} stands for the folder
	folders []string
	flags   []string // of alike pairs
}

// cell is the cost of one folder with one number of threads.
type cell struct {
	seconds    float64
	processors float64 // user and system
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "scaling:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "scaling")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if o.alike == "" {
		o.alike = filepath.Join(scratch, "alike")
		build := exec.Command("go", "build", "-o", o.alike, "./cmd/alike")
		build.Dir = o.repo
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("building alike in %s: %w", o.repo, err)
		}
	}
	cells, err := measure(o, scratch)
	if err != nil {
		return err
	}
	if err := print(out, o, cells); err != nil {
		return err
	}
	if o.csv != "" {
		if err := os.WriteFile(o.csv, table(o, cells), 0o644); err != nil {
			return err
		}
	}
	if o.plot != "" {
		return plot(o, cells)
	}
	return nil
}

func parse(args []string) (*options, error) {
	o := &options{flags: []string{"--preset", "broder"}}
	f := flag.NewFlagSet("scaling", flag.ContinueOnError)
	f.StringVar(&o.alike, "alike", "", "`program` to run (default: built from -repo)")
	f.StringVar(&o.repo, "repo", "../..", "`folder` of alike's repository")
	f.IntVar(&o.rounds, "rounds", 5, "rounds; the least time counts")
	f.StringVar(&o.plot, "plot", "scaling", "`prefix` of the plots, PREFIX-speedup.svg and PREFIX-efficiency.svg; empty: none")
	beside := f.String("beside", "", "another `command` to run on each folder, which stands where it says {}")
	f.StringVar(&o.csv, "csv", "", "`file` for the table as CSV")
	threads := f.String("threads", "1,2,4,8,16", "numbers of threads, the first is what the others are compared with")
	if i := slices.Index(args, "--"); i >= 0 {
		o.flags, args = args[i+1:], args[:i]
	}
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	for word := range strings.SplitSeq(*threads, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-threads is %q: want numbers above 0 with commas between them", *threads)
		}
		o.threads = append(o.threads, n)
	}
	o.beside = strings.Fields(*beside)
	if o.folders = f.Args(); len(o.folders) == 0 || o.rounds < 1 {
		return nil, errors.New("name one or more folders, and at least one round; -h tells more")
	}
	return o, nil
}

// measure returns the cells by folder and number of threads, then the cells of the
// other program.
func measure(o *options, scratch string) ([][]cell, error) {
	cells := make([][]cell, len(o.folders))
	outputs := make([][]byte, len(o.folders))
	for i := range cells {
		cells[i] = make([]cell, len(o.threads), len(o.threads)+1)
		if len(o.beside) > 0 {
			cells[i] = cells[i][:cap(cells[i])]
		}
	}
	pairs := filepath.Join(scratch, "pairs.csv")
	for round := range o.rounds {
		for i, folder := range o.folders {
			for j, threads := range o.threads {
				args := append([]string{"pairs", folder, "--quiet", "--threads", strconv.Itoa(threads), "-o", pairs}, o.flags...)
				c, err := once(o.alike, args)
				if err != nil {
					return nil, err
				}
				cells[i][j].take(c, round)
				output, err := os.ReadFile(pairs)
				if err != nil {
					return nil, err
				}
				if outputs[i] == nil {
					outputs[i] = output
				} else if !bytes.Equal(output, outputs[i]) {
					return nil, fmt.Errorf("%s: %d threads give another output than before: a bug of alike", folder, threads)
				}
			}
			if len(o.beside) > 0 {
				args := slices.Clone(o.beside)
				for k := range args {
					args[k] = strings.ReplaceAll(args[k], "{}", folder)
				}
				c, err := once(args[0], args[1:])
				if err != nil {
					return nil, err
				}
				cells[i][len(o.threads)].take(c, round)
			}
		}
	}
	return cells, nil
}

// take keeps the least of all rounds.
func (c *cell) take(d cell, round int) {
	if round > 0 {
		d = cell{min(c.seconds, d.seconds), min(c.processors, d.processors)}
	}
	*c = d
}

// once runs the program.
func once(program string, args []string) (cell, error) {
	cmd := exec.Command(program, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	err := cmd.Run()
	seconds := time.Since(start).Seconds()
	if err != nil {
		return cell{}, fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, &said)
	}
	state := cmd.ProcessState
	return cell{seconds, (state.UserTime() + state.SystemTime()).Seconds()}, nil
}

// speedup returns the speed-ups of a folder's cells.
func speedup(o *options, cells []cell) []float64 {
	s := make([]float64, len(o.threads))
	for i := range s {
		s[i] = cells[0].seconds / cells[i].seconds
	}
	return s
}

// efficiency returns the speed-up for each thread; it is 1 for the first number of threads.
func efficiency(o *options, cells []cell) []float64 {
	e := speedup(o, cells)
	for i := range e {
		e[i] *= float64(o.threads[0]) / float64(o.threads[i])
	}
	return e
}

// table returns the figures as CSV.
func table(o *options, cells [][]cell) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, "folder,threads,seconds,processor_seconds,speedup,efficiency")
	for i, folder := range o.folders {
		s, e := speedup(o, cells[i]), efficiency(o, cells[i])
		for j, threads := range o.threads {
			fmt.Fprintf(&b, "%s,%d,%.4f,%.4f,%.3f,%.3f\n", filepath.Base(folder), threads, cells[i][j].seconds, cells[i][j].processors, s[j], e[j])
		}
		for _, c := range cells[i][len(o.threads):] {
			fmt.Fprintf(&b, "%s,beside,%.4f,%.4f,%.3f,\n", filepath.Base(folder), c.seconds, c.processors, cells[i][0].seconds/c.seconds)
		}
	}
	return b.Bytes()
}

// print prints the figures for people.
func print(out io.Writer, o *options, cells [][]cell) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for line := range bytes.Lines(table(o, cells)) {
		fmt.Fprintln(t, strings.ReplaceAll(strings.TrimSpace(string(line)), ",", "\t")+"\t")
	}
	return t.Flush()
}
