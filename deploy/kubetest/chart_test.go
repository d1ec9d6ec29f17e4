package kubetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	chartFolder = "../helm/alike"
	release     = "alike"
)

// helm runs Helm on the cluster and returns what it prints.
func (c *cluster) helm(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, os.Getenv("KUBETEST_HELM"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(c.dir, kubeconfigName), "HELM_CACHE_HOME="+c.dir, "HELM_CONFIG_HOME="+c.dir, "HELM_DATA_HOME="+c.dir)
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("helm %s: %w: %s%s", args[0], err, problems.Bytes(), out.Bytes())
	}
	return out.String(), nil
}

// A manifest is an object that a chart installs.
type manifest struct {
	path    string // where the API server has it
	content []byte
}

// manifests returns what Helm would install of the chart with the values of a file beside its defaults.
func (c *cluster) manifests(ctx context.Context, values string) (all []manifest, err error) {
	out, err := c.helm(ctx, "template", release, chartFolder, "--values", values, "--kube-version", "1.34.4")
	if err != nil {
		return nil, err
	}
	for _, content := range strings.Split("\n"+out, "\n---\n") {
		var of struct {
			Kind     string
			Metadata struct{ Name string }
		}
		if err := yaml.Unmarshal([]byte(content), &of); err != nil {
			return nil, err
		}
		if of.Kind == "" {
			continue
		}
		if groups[of.Kind] == "" {
			return nil, fmt.Errorf("kind %s is none that is known here", of.Kind)
		}
		all = append(all, manifest{pathOf(of.Kind, of.Metadata.Name), []byte(content)})
	}
	return all, nil
}

// taken is an error unless the server would take all objects. Nothing is changed.
func (c *cluster) taken(ctx context.Context, all []manifest) (refused error) {
	for _, m := range all {
		refused = errors.Join(refused, c.apply(ctx, m.path, m.content, true))
	}
	return refused
}
