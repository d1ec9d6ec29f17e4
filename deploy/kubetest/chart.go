package kubetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

// A manifest is an object that a chart installs.
type manifest struct {
	path    string // where the API server has it
	content []byte
}

// render returns what Helm would install of a chart with some values, in YAML, beside its defaults.
func render(dir, release, values string) (all []manifest, err error) {
	chart, err := loader.Load(dir)
	if err != nil {
		return nil, err
	}
	set, err := chartutil.ReadValues([]byte(values))
	if err != nil {
		return nil, err
	}
	about := chartutil.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	full, err := chartutil.ToRenderValues(chart, set, about, chartutil.DefaultCapabilities) // by the schema too
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, full)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for _, content := range strings.Split(files[name], "\n---\n") {
			var of struct {
				Kind     string
				Metadata struct{ Name string }
			}
			if err := yaml.Unmarshal([]byte(content), &of); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if of.Kind == "" {
				continue
			}
			if groups[of.Kind] == "" {
				return nil, fmt.Errorf("%s: kind %s is none that is known here", name, of.Kind)
			}
			all = append(all, manifest{pathOf(of.Kind, of.Metadata.Name), []byte(content)})
		}
	}
	return all, nil
}

// install applies a chart. Before that the server is asked whether it would take every object; dry leaves it at that.
func install(ctx context.Context, a *api, all []manifest, dry bool) error {
	var refused error
	for _, m := range all {
		refused = errors.Join(refused, a.apply(ctx, m.path, m.content, true))
	}
	if refused != nil || dry {
		return refused
	}
	for _, m := range all {
		if err := a.apply(ctx, m.path, m.content, false); err != nil {
			return err
		}
	}
	return nil
}
