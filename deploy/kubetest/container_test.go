package kubetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
)

// runtime runs containers of one image by runc.
type runtime struct {
	bundle string // as umoci unpacks the image
	dir    string // of what it makes
}

// A container is one that runs, or has run.
type container struct {
	*runtime
	id, folder string
	cmd        *exec.Cmd
	ended      chan struct{} // closed when the process has ended
}

// mount is a folder of this machine that a container sees.
type mount struct {
	from, to string
	readOnly bool
}

// quotaPeriod is what CPU is counted out in, in microseconds.
const quotaPeriod = 100_000

// start runs a pod's container in a namespace of the network. The file system of the image is one for all: nothing
// can be written to it.
func (r *runtime) start(pod *core.Pod, id, network string, mounts []mount) (*container, error) {
	c := &container{runtime: r, id: id, folder: filepath.Join(r.dir, id), ended: make(chan struct{})}
	if err := os.MkdirAll(c.folder, 0o755); err != nil {
		return nil, err
	}
	config, err := r.config(pod, id, network, mounts)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(c.folder, "config.json"), config, 0o600); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(c.folder, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close() // the process has it too
	c.cmd = exec.Command("runc", "--root", filepath.Join(r.dir, "runc"), "run", "--bundle", c.folder, id)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait() // whatever the status: it has ended
	}()
	return c, nil
}

// config returns runc's configuration of a container: the image's, with what the pod says.
func (r *runtime) config(pod *core.Pod, id, network string, mounts []mount) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(r.bundle, "config.json"))
	if err != nil {
		return nil, err
	}
	var c map[string]any
	if err := json.Unmarshal(content, &c); err != nil {
		return nil, err
	}
	of, security := pod.Spec.Containers[0], pod.Spec.Containers[0].SecurityContext
	process := c["process"].(map[string]any)
	process["terminal"] = false
	process["args"] = append([]string{"/alike"}, of.Args...)
	process["user"] = map[string]any{"uid": *pod.Spec.SecurityContext.RunAsUser, "gid": *pod.Spec.SecurityContext.RunAsGroup, "additionalGids": []int64{*pod.Spec.SecurityContext.FSGroup}}
	process["noNewPrivileges"] = !*security.AllowPrivilegeEscalation
	if len(security.Capabilities.Drop) != 1 || security.Capabilities.Drop[0] != "ALL" {
		return nil, errors.New("a pod keeps capabilities")
	}
	delete(process, "capabilities")
	c["root"] = map[string]any{"path": filepath.Join(r.bundle, "rootfs"), "readonly": *security.ReadOnlyRootFilesystem}
	var all []any
	for _, m := range c["mounts"].([]any) {
		if m.(map[string]any)["destination"] != "/data" {
			all = append(all, m)
		}
	}
	for _, m := range mounts {
		options := []string{"rbind", "rw"}
		if m.readOnly {
			options[1] = "ro"
		}
		all = append(all, map[string]any{"destination": m.to, "source": m.from, "type": "bind", "options": options})
	}
	c["mounts"] = all
	linux := c["linux"].(map[string]any)
	for _, n := range linux["namespaces"].([]any) {
		if n := n.(map[string]any); n["type"] == "network" {
			n["path"] = filepath.Join("/var/run/netns", network)
		}
	}
	linux["cgroupsPath"] = filepath.Join(cgroupFolder, id)
	// Weight enough that other work of this machine does not take what the quota grants.
	cpu := map[string]any{"shares": 8192}
	if limit := of.Resources.Limits.Cpu(); !limit.IsZero() {
		cpu["period"], cpu["quota"] = quotaPeriod, limit.MilliValue()*quotaPeriod/1000
	}
	linux["resources"].(map[string]any)["cpu"] = cpu
	return json.Marshal(c)
}

const cgroupFolder = "/alike-kubetest"

// cpu returns the CPU that a container has used, by its cgroup.
func (c *container) cpu() (time.Duration, error) {
	content, err := os.ReadFile(filepath.Join("/sys/fs/cgroup/cpuacct", cgroupFolder, c.id, "cpuacct.usage"))
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	return time.Duration(n), err
}

// kill sends a signal.
func (c *container) kill(signal syscall.Signal) error {
	return c.run("kill", c.id, strconv.Itoa(int(signal)))
}

// remove ends a container at once, if it has not ended, and removes what is left of it but for its log.
func (c *container) remove() error {
	err := c.run("delete", "--force", c.id)
	<-c.ended
	return err
}

func (c *container) run(args ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	args = append([]string{"--root", filepath.Join(c.dir, "runc")}, args...)
	if out, err := exec.CommandContext(ctx, "runc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("runc %s: %w: %s", strings.Join(args[2:], " "), err, out)
	}
	return nil
}

// network makes a namespace with an interface of an address, which this machine reaches and which reaches nothing else.
func network(name, address string) error {
	outer := "k" + name
	for _, args := range [][]string{
		{"netns", "add", name},
		{"link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name},
		{"addr", "add", podsHost + "/32", "dev", outer},
		{"link", "set", outer, "up"},
		{"-n", name, "addr", "add", address + "/32", "dev", "eth0"},
		{"-n", name, "link", "set", "lo", "up"},
		{"-n", name, "link", "set", "eth0", "up"},
		{"-n", name, "route", "add", podsHost, "dev", "eth0"},
		{"route", "add", address, "dev", outer, "src", podsHost},
	} {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

func removeNetwork(name string) error { return exec.Command("ip", "netns", "del", name).Run() }
