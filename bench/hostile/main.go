//go:build linux

// Command hostile runs the alike binary with every kind of bad input that it should
// survive, one case after the other. It prints a Markdown table with the message,
// the exit status, the counts of records, the peak memory and the seconds of each
// case. It marks cases that fail, and then ends with exit status 1.
//
// It demonstrates docs/guarantees.md; the tests are the bad_*.txtar scripts and
// those of package corpus.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// maxSeconds is the time after which a case counts as a hang.
const maxSeconds = 300

func main() {
	binary := flag.String("alike", "alike", "the binary")
	only := flag.String("run", "", "only cases whose name matches this regular expression")
	memory := flag.String("memory", "", "--memory of every run")
	flag.Parse()
	match, err := regexp.Compile(*only)
	if err == nil {
		*binary, err = filepath.Abs(*binary)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	}
	fmt.Println("| case | what is said | exit | read | kept | removed | skipped | peak MiB | s |")
	fmt.Println("|---|---|--:|--:|--:|--:|--:|--:|--:|")
	wrong := 0
	for _, c := range cases() {
		if !match.MatchString(c.name) {
			continue
		}
		r, err := c.run(*binary, *memory)
		if err != nil {
			fmt.Printf("| %s | (not run: %v) | | | | | | | |\n", c.name, oneLine(err.Error()))
			continue
		}
		fmt.Println(r.row(c.name))
		for _, complaint := range c.check(r) {
			wrong++
			fmt.Printf("| | **%s** | | | | | | | |\n", oneLine(complaint))
		}
	}
	if wrong > 0 {
		fmt.Fprintf(os.Stderr, "hostile: %d complaints\n", wrong)
		os.Exit(1)
	}
}

type hostile struct {
	name string
	make func() error // prepares files in the current folder
	args []string     // of alike; default: dedup in -o out
	// stdin feeds standard input.
	stdin func(w io.Writer) error
	// during is run while alike runs.
	during func() error
	user   bool   // as an ordinary user, even if started by root
	shell  string // instead of args: a script that runs "$alike"

	says     string // regular expression that a line on standard error must match
	exit     int    // -1: no matter
	kept     int64  // -1: no matter
	skipped  int64  // -1: no matter
	noOutput bool   // nothing may have been left
}

type result struct {
	message string
	stderr  string
	exit    int
	hang    bool
	summary *summary
	peak    int64
	seconds float64
	left    []string
}

type summary struct {
	Read, Kept, Removed, Skipped int64
	Peak                         int64 `json:"peak_memory_bytes"`
}

// run runs a case in a folder of its own.
func (c *hostile) run(binary, memory string) (r *result, err error) {
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		return nil, err
	}
	defer removeAll(dir)
	if err := os.Chmod(dir, 0o777); err != nil {
		return nil, err
	}
	if err := os.Chdir(dir); err != nil {
		return nil, err
	}
	defer os.Chdir("/")
	if c.make != nil {
		if err := c.make(); err != nil {
			return nil, err
		}
	}
	args := c.args
	if args == nil {
		args = []string{"dedup", "in", "-o", "out"}
	}
	if memory != "" {
		args = append(args, "--memory", memory)
	}
	return c.start(binary, args)
}

// start runs the binary and waits for it.
func (c *hostile) start(binary string, args []string) (*result, error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxSeconds*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	if c.shell != "" {
		cmd = exec.CommandContext(ctx, "sh", "-c", c.shell)
		cmd.Env = append(os.Environ(), "alike="+binary)
	}
	if c.user && os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	stderr := &head{}
	cmd.Stderr = stderr
	var feed io.WriteCloser
	if c.stdin != nil {
		var err error
		if feed, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	fed := make(chan error, 1)
	go func() {
		var err error
		if c.stdin != nil {
			err = c.stdin(feed)
			feed.Close()
		}
		if c.during != nil {
			err = c.during()
		}
		fed <- err
	}()
	peak := watch(cmd.Process.Pid)
	err := cmd.Wait()
	r := &result{peak: <-peak, seconds: time.Since(began).Seconds(), hang: ctx.Err() != nil, stderr: stderr.text.String()}
	if !r.hang {
		<-fed
	}
	if exit, ok := err.(*exec.ExitError); ok {
		r.exit = exit.ExitCode()
	} else if err != nil {
		return nil, err
	}
	skipped := int64(0)
	if data, err := os.ReadFile("out/summary.json"); err == nil {
		r.summary = &summary{}
		if err := json.Unmarshal(data, r.summary); err != nil {
			return nil, err
		}
		r.peak, skipped = r.summary.Peak, r.summary.Skipped
	}
	r.message = message(r.stderr, c.says, skipped)
	if c.shell != "" {
		r.peak = 0 // that of the shell
	}
	r.left = remains()
	return r, nil
}

// head is a writer that keeps the first bytes.
type head struct{ text bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	h.text.Write(p[:min(len(p), max(0, 64<<10-h.text.Len()))])
	return len(p), nil
}

// watch records the peak memory of a process until it ends.
func watch(pid int) <-chan int64 {
	peak := make(chan int64, 1)
	go func() {
		most := int64(0)
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			_, rest, found := bytes.Cut(status, []byte("\nVmHWM:"))
			if err != nil || !found { // it has ended
				peak <- most
				return
			}
			kib := int64(0)
			fmt.Sscan(string(rest), &kib)
			most = max(most, kib<<10)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return peak
}

// message picks the line of standard error that names the problem: the expected
// one, else the first.
func message(stderr, says string, skipped int64) string {
	wanted, err := regexp.Compile(says)
	if err != nil {
		return err.Error()
	}
	first := ""
	for line := range strings.Lines(stderr) {
		line, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "alike: ")
		if !ok || progress.MatchString(line) {
			continue
		}
		if first == "" || says != "" && wanted.MatchString(line) && !wanted.MatchString(first) {
			first = line
		}
	}
	if skipped > 1 {
		first += fmt.Sprintf(" (and %d more)", skipped-1)
	}
	return first
}

var progress = regexp.MustCompile(`^[a-z]+: [0-9,]+ `)

// remains finds temporary files.
func remains() (left []string) {
	filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // cannot be read: none of alike's
		}
		if name := e.Name(); strings.HasSuffix(name, ".partial") || strings.HasPrefix(name, ".alike-") || strings.HasPrefix(name, "alike-") {
			left = append(left, path)
		}
		return nil
	})
	return left
}

// row is the result as a line of the table.
func (r *result) row(name string) string {
	counts := " | | | "
	if s := r.summary; s != nil {
		counts = fmt.Sprintf("%d | %d | %d | %d", s.Read, s.Kept, s.Removed, s.Skipped)
	}
	exit := fmt.Sprint(r.exit)
	if r.hang {
		exit = "hang"
	}
	peak := ""
	if r.peak > 0 {
		peak = fmt.Sprintf("%.0f", float64(r.peak)/(1<<20))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %.1f |", name, oneLine(r.message), exit, counts, peak, r.seconds)
}

func (c *hostile) check(r *result) (complaints []string) {
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	if r.hang {
		complain("did not end within %d seconds", maxSeconds)
	}
	if c.exit >= 0 && r.exit != c.exit {
		complain("exit status %d, want %d: %s", r.exit, c.exit, r.stderr)
	}
	if strings.Contains(r.stderr, "goroutine ") || strings.Contains(r.stderr, "panic") {
		complain("a panic: %s", r.stderr)
	}
	if ok, err := regexp.MatchString("(?m)"+c.says, r.stderr); err != nil || !ok {
		complain("does not say %q but: %s", c.says, r.stderr)
	}
	if len(r.left) > 0 {
		complain("leaves %v", r.left)
	}
	if c.noOutput {
		if _, err := os.Lstat("out"); err == nil {
			complain("a failed run leaves an output")
		}
	}
	s := r.summary
	if s == nil {
		if (r.exit == 0 || r.exit == 3) && c.args == nil {
			complain("no summary.json")
		}
		return complaints
	}
	if r.exit != 0 && r.exit != 3 {
		complain("a summary.json of a run that failed")
	}
	if s.Read != s.Kept+s.Removed+s.Skipped {
		complain("read = kept + removed + skipped does not hold")
	}
	if c.kept >= 0 && s.Kept != c.kept || c.skipped >= 0 && s.Skipped != c.skipped {
		complain("%d kept, %d skipped, want %d and %d", s.Kept, s.Skipped, c.kept, c.skipped)
	}
	return complaints
}

// oneLine returns a text in a form that fits a cell of the table.
func oneLine(s string) string {
	if len(s) > 220 {
		s = s[:100] + " … " + s[len(s)-100:]
	}
	return strings.NewReplacer("\n", "⏎", "|", `\|`, "\x00", "␀").Replace(s)
}

// removeAll removes a folder of any permissions and any depth.
func removeAll(dir string) {
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			os.Chmod(path, 0o777)
		}
		return nil
	})
	exec.Command("rm", "-rf", dir).Run()
}
