// Command measure runs a command and prints its cost: seconds, processor seconds,
// the peak of its resident memory, and the largest size of a folder while it ran.
// It can kill the command after a time. The scripts in bench use it; run it with -h.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

const usage = `measure runs a command and tells what it cost.

    go run ./bench/measure [flags] -o FILE COMMAND [ARGUMENT]...

FILE gets one line: seconds, processor seconds, bytes of resident memory at their
peak, bytes of files in the -watch folder at their peak, and 1 if the command was
killed, else 0. The exit status is the command's, and 137 if it was killed.

The peak of memory is what the system accounts to the process (ru_maxrss); it is
no less than what this program has, some MiB. 0 where the system does not tell.

Flags:
`

// killedStatus is the exit status that a shell gives a killed command.
const killedStatus = 128 + 9

// job is the command line, parsed.
type job struct {
	output    string
	watch     string
	every     time.Duration
	killAfter time.Duration
	command   []string
}

type cost struct {
	seconds    float64
	processors float64 // seconds
	memory     int64   // bytes, peak
	disk       int64   // bytes, peak
	killed     bool    // because its time was up
}

func main() {
	j, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	status, err := j.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
	os.Exit(status)
}

func parse(args []string, stderr io.Writer) (*job, error) {
	j := new(job)
	f := flag.NewFlagSet("measure", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	f.StringVar(&j.output, "o", "", "`file` for the cost")
	f.StringVar(&j.watch, "watch", "", "`folder` whose files are watched; need not be there yet")
	f.DurationVar(&j.every, "every", 20*time.Millisecond, "how often they are looked at")
	f.DurationVar(&j.killAfter, "kill-after", 0, "kill the command after this `time`, such as 1.5s (0: never)")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	j.command = f.Args()
	switch {
	case j.output == "":
		return nil, errors.New("no file for the cost: give -o FILE")
	case len(j.command) == 0:
		return nil, errors.New("no command to run")
	case j.every <= 0 || j.killAfter < 0:
		return nil, errors.New("times are to be positive")
	}
	return j, nil
}

// run runs the command, writes its cost and returns its exit status. When ctx
// ends, the command is killed.
func (j *job) run(ctx context.Context) (status int, err error) {
	var c cost
	cmd := exec.CommandContext(ctx, j.command[0], j.command[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	stopWatch := watch(j.watch, j.every)
	begin := time.Now()
	if err = cmd.Start(); err == nil {
		c.killed, err = j.wait(cmd)
	}
	c.seconds, c.disk = time.Since(begin).Seconds(), stopWatch()
	switch {
	case cmd.ProcessState == nil:
		return 0, err
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	if status = cmd.ProcessState.ExitCode(); status < 0 {
		status = killedStatus
	} else {
		c.killed = false // it ended by itself just before
	}
	c.processors = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	c.memory = peakMemory(cmd.ProcessState)
	return status, c.write(j.output)
}

// wait waits for the end of a command and kills it when its time is up.
func (j *job) wait(cmd *exec.Cmd) (killed bool, err error) {
	if j.killAfter == 0 {
		return false, cmd.Wait()
	}
	var up atomic.Bool
	timer := time.AfterFunc(j.killAfter, func() {
		up.Store(true)
		_ = cmd.Process.Kill() // fails if it has ended
	})
	defer timer.Stop()
	err = cmd.Wait()
	return up.Load(), err
}

func (c cost) write(file string) error {
	killed := 0
	if c.killed {
		killed = 1
	}
	line := fmt.Sprintf("%.3f %.3f %d %d %d\n", c.seconds, c.processors, c.memory, c.disk, killed)
	return os.WriteFile(file, []byte(line), 0o666)
}

// watch observes the size of a folder, which is 0 if there is none. The function that
// it returns ends this and returns the largest size seen.
func watch(folder string, every time.Duration) (stop func() int64) {
	if folder == "" {
		return func() int64 { return 0 }
	}
	done, largest := make(chan struct{}), make(chan int64)
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		size := folderSize(folder)
		for {
			select {
			case <-tick.C:
				size = max(size, folderSize(folder))
			case <-done:
				largest <- max(size, folderSize(folder))
				return
			}
		}
	}()
	return func() int64 {
		close(done)
		return <-largest
	}
}

// folderSize adds up the files in a folder and below. Files that vanish meanwhile
// are not counted.
func folderSize(folder string) (size int64) {
	_ = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}
