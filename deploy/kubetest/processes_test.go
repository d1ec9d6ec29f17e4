package kubetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/alike-dev/alike/internal/freeport"
)

// A cluster is the parts of Kubernetes as processes of this machine, which listen on the loopback interface.
type cluster struct {
	*api
	dir   string
	parts []part
}

// part is a process of the cluster.
type part struct {
	name string
	*exec.Cmd
}

const (
	token          = "kubetest"
	kubeconfigName = "kubeconfig"
)

// startCluster starts the parts of a program in a folder and waits until the API answers. After an error nothing runs.
func startCluster(ctx context.Context, program, dir string) (c *cluster, err error) {
	ports := make([]string, 3)
	for i := range ports {
		if ports[i], err = freeport.Find(); err != nil {
			return nil, err
		}
	}
	c = &cluster{newAPI("https://127.0.0.1:"+ports[2], token), dir, nil}
	defer func() {
		if err != nil {
			c.stop()
		}
	}()
	kubeconfig := filepath.Join(dir, kubeconfigName)
	for name, content := range map[string]string{
		"tokens": token + ",admin,admin,system:masters\n",
		kubeconfigName: fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"clusters":[{"name":"c","cluster":{"server":%q,"insecure-skip-tls-verify":true}}],"users":[{"name":"u","user":{"token":%q}}]}`, c.url, token),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	key := filepath.Join(dir, "key")
	if out, err := exec.CommandContext(ctx, "openssl", "genrsa", "-out", key, "2048").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("openssl: %w: %s", err, out)
	}
	etcd := "http://127.0.0.1:" + ports[0]
	peer := "http://127.0.0.1:" + ports[1]
	start := [][]string{
		{"etcd", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", etcd, "--advertise-client-urls", etcd, "--listen-peer-urls", peer,
			"--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer, "--unsafe-no-fsync"},
		{"kube-apiserver", "--etcd-servers", etcd, "--secure-port", ports[2], "--bind-address", "127.0.0.1", "--cert-dir", dir,
			"--token-auth-file", filepath.Join(dir, "tokens"), "--service-account-key-file", key, "--service-account-signing-key-file", key,
			"--service-account-issuer", "kubetest", "--service-cluster-ip-range", "10.0.0.0/24", "--endpoint-reconciler-type", "none",
			// The nodes are ready when they register, and pods have no accounts.
			"--disable-admission-plugins", "ServiceAccount,TaintNodesByCondition"},
	}
	for _, args := range start {
		if err := c.start(program, args); err != nil {
			return nil, err
		}
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	start = [][]string{
		{"kube-controller-manager", "--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0",
			"--controllers=deployment-controller,replicaset-controller,statefulset-controller,horizontal-pod-autoscaler-controller,endpointslice-controller,disruption-controller,persistentvolume-binder-controller",
			"--horizontal-pod-autoscaler-sync-period=5s", "--horizontal-pod-autoscaler-cpu-initialization-period=15s", "--horizontal-pod-autoscaler-initial-readiness-delay=5s"},
		{"kube-scheduler", "--kubeconfig", kubeconfig, "--leader-elect=false", "--secure-port=0"},
	}
	for _, args := range start {
		if err := c.start(program, args); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// start starts a part of Kubernetes, which the first argument names.
func (c *cluster) start(program string, args []string) error { return c.run(args[0], program, args...) }

// run starts a part, whose log is a file in the folder.
func (c *cluster) run(name, program string, args ...string) error {
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has it too
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	c.parts = append(c.parts, part{name, cmd})
	return nil
}

// kill kills a part.
func (c *cluster) kill(name string) {
	c.parts = slices.DeleteFunc(c.parts, func(p part) bool {
		if p.name == name {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
		return p.name == name
	})
}

// ready waits until the API server is ready and has made what it makes itself.
func (c *cluster) ready(ctx context.Context) error {
	return until(ctx, 2*time.Minute, "the API server is ready", func() error {
		if err := c.do(ctx, http.MethodGet, "/readyz", "", nil, nil); err != nil {
			return err
		}
		return c.do(ctx, http.MethodGet, "/api/v1/namespaces/"+namespace, "", nil, nil)
	})
}

// stop ends all parts, the last first.
func (c *cluster) stop() {
	for i := len(c.parts) - 1; i >= 0; i-- {
		_ = c.parts[i].Process.Kill()
		_ = c.parts[i].Wait()
	}
}

// until calls try until it returns no error, for a time.
func until(ctx context.Context, most time.Duration, what string, try func() error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s: not within %v", what, most), err)
		case <-tick.C:
		}
	}
}
