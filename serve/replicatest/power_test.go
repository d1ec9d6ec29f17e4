package replicatest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// A disk is a file system in a file, mounted from a loop device. What was written to it and not synced is in memory only,
// and so lost when the power fails.
type disk struct{ image, folder string }

func newDisk(t testing.TB) *disk {
	dir := t.TempDir()
	d := &disk{filepath.Join(dir, "image"), filepath.Join(dir, "disk")}
	d.must(t, "truncate", "--size=4G", d.image)
	d.must(t, "mkfs.ext4", "-q", d.image)
	d.must(t, "mkdir", d.folder)
	d.must(t, "mount", "-o", "loop", d.image, d.folder)
	t.Cleanup(func() { d.must(t, "umount", d.folder) })
	return d
}

func (d *disk) must(t testing.TB, name string, args ...string) {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v: %s", name, args, err, out)
	}
}

// powerFails has processes that stand still go on with what the disk has, which is what they have synced, and whatever
// else the system has written so far.
func (d *disk) powerFails(t testing.TB, all []*process) {
	left := d.image + ".left"
	d.must(t, "cp", "--sparse=always", d.image, left)
	for _, p := range all {
		p.kill()
	}
	d.must(t, "umount", d.folder) // this writes all to the image that nobody has any more
	d.must(t, "mv", left, d.image)
	d.must(t, "mount", "-o", "loop", d.image, d.folder)
	for _, p := range all {
		p.start(t)
	}
}

// The power fails for all servers of the log and all replicas at once, under load: what was answered is there.
// ALIKE_POWER is how often. It needs root, loop devices and mkfs.ext4.
func TestPowerFailuresLoseNothing(t *testing.T) {
	times, err := strconv.Atoi(os.Getenv("ALIKE_POWER"))
	if err != nil {
		t.Skip("ALIKE_POWER says how often the power fails; root only")
	}
	d := newDisk(t)
	n := startNATS(t, d.folder)
	d.must(t, "sync", "-f", d.folder)
	for i := range times {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			r := &run{t: t, nats: n, stream: fmt.Sprint("p", i)}
			for j := range 2 + 2*(i%2) {
				r.replicas = append(r.replicas, n.replica(t, r.stream, fmt.Sprint("r", i, "-", j)))
			}
			d.must(t, "sync", "-f", d.folder) // what stands there before a replica begins
			r.history(t, uint64(i), func(r *run) {
				all := r.processes()
				for _, p := range all {
					p.signal(t, syscall.SIGSTOP)
				}
				d.powerFails(t, all)
			})
		})
	}
}
