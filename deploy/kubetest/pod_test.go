package kubetest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A worker runs one pod, from its being bound to its end.
type worker struct {
	*node
	pod             core.Pod
	network         string
	address         string
	mounts          []mount
	container       atomic.Pointer[container]
	starts          int
	started         time.Time
	ready           bool
	asked           chan time.Duration // the pod is to end, with a grace period; zero: at once
	ended           chan struct{}      // closed when nothing is left of it
	lastCPU         time.Duration
	lastAt          time.Time
	usage           atomic.Int64 // nanoseconds of CPU a second
	readySince      meta.Time
	containerUpTime meta.Time
}

// work runs the pod. Errors are told, since the node has nobody to give them to.
func (w *worker) work(ctx context.Context) {
	defer close(w.ended)
	if err := w.serve(ctx); err != nil && ctx.Err() == nil {
		w.log("pod %s: %v", w.pod.Name, err)
	}
	if c := w.container.Load(); c != nil {
		_ = c.remove() // it has mostly ended
	}
	_ = removeNetwork(w.network)
	if ctx.Err() == nil && !w.vanished.contains(w.pod.UID) {
		if err := w.api.remove(ctx, pathOf("Pod", w.pod.Name), w.pod.UID); err != nil {
			w.log("pod %s: %v", w.pod.Name, err)
		}
	}
}

func (w *worker) serve(ctx context.Context) error {
	if err := network(w.network, w.address); err != nil {
		return err
	}
	err := until(ctx, time.Minute, "volumes", func() (err error) { w.mounts, err = w.volumes(ctx); return err })
	if err != nil {
		return err
	}
	w.started = time.Now()
	for {
		if err := w.start(); err != nil {
			return err
		}
		grace, asked := w.probe(ctx)
		if asked {
			return w.end(ctx, grace)
		}
		if ctx.Err() != nil {
			return nil
		}
		// It has ended by itself, or did not answer: again, after a while.
		if err := errors.Join(w.container.Load().remove(), w.report(ctx, false)); err != nil {
			w.log("pod %s: %v", w.pod.Name, err)
		}
		select {
		case grace = <-w.asked:
			return nil
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil
		}
	}
}

func (w *worker) start() error {
	w.starts++
	c, err := w.runtime.start(&w.pod, fmt.Sprintf("%s-%d", w.pod.UID, w.starts), w.network, w.mounts)
	if err != nil {
		return err
	}
	w.container.Store(c)
	w.containerUpTime = meta.Now()
	w.lastAt, w.lastCPU = time.Now(), 0
	return nil
}

// asks tells whether a probe is answered well.
func (w *worker) asks(ctx context.Context, p *core.Probe) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(max(p.TimeoutSeconds, 1))*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+":8080"+p.HTTPGet.Path, nil)
	if err != nil {
		return false
	}
	answer, err := w.prober.Do(r)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode < 400
}

// probe asks a container as its probes say, until the pod is to end (asked), it has ended, or it is not alive.
func (w *worker) probe(ctx context.Context) (grace time.Duration, asked bool) {
	of := w.pod.Spec.Containers[0]
	if err := w.report(ctx, false); err != nil {
		w.log("pod %s: %v", w.pod.Name, err)
	}
	begun := false
	failed := map[*core.Probe]int32{}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := int32(0); ; n++ {
		select {
		case grace := <-w.asked:
			return grace, true
		case <-w.container.Load().ended:
			return 0, false
		case <-ctx.Done():
			return 0, false
		case <-tick.C:
		}
		w.measure()
		if !begun {
			begun = w.asks(ctx, of.StartupProbe)
			if !begun {
				continue
			}
		}
		for _, p := range []*core.Probe{of.ReadinessProbe, of.LivenessProbe} {
			first := p == of.ReadinessProbe && !w.ready
			if !first && n%p.PeriodSeconds != 0 {
				continue
			}
			if w.asks(ctx, p) {
				failed[p] = 0
			} else {
				failed[p]++
			}
		}
		if failed[of.LivenessProbe] >= of.LivenessProbe.FailureThreshold {
			return 0, false
		}
		is := failed[of.ReadinessProbe] == 0 || w.ready && failed[of.ReadinessProbe] < of.ReadinessProbe.FailureThreshold
		if is != w.ready {
			if err := w.report(ctx, is); err != nil {
				w.log("pod %s: %v", w.pod.Name, err)
			}
		}
	}
}

// measure keeps the CPU that the container takes.
func (w *worker) measure() {
	cpu, err := w.container.Load().cpu()
	now := time.Now()
	if err != nil || now.Sub(w.lastAt) < measureEvery {
		return
	}
	w.usage.Store(int64(float64(cpu-w.lastCPU) / now.Sub(w.lastAt).Seconds()))
	w.lastAt, w.lastCPU = now, cpu
}

// measureEvery is how long CPU is counted for one figure.
const measureEvery = 4 * time.Second

// end ends a container as kubelet does: it waits as the pod says, asks it to end, and kills what is left after the
// grace period.
func (w *worker) end(ctx context.Context, grace time.Duration) error {
	c := w.container.Load()
	kill := time.After(grace)
	if grace > 0 {
		select {
		case <-time.After(min(grace, time.Duration(w.pod.Spec.Containers[0].Lifecycle.PreStop.Sleep.Seconds)*time.Second)):
		case <-c.ended:
		case <-ctx.Done():
			return nil
		case grace = <-w.asked: // less time than before
			kill = time.After(grace)
		}
		if err := c.kill(syscall.SIGTERM); err != nil {
			w.log("pod %s: %v", w.pod.Name, err)
		}
	}
	for {
		select {
		case <-c.ended:
			return nil
		case <-ctx.Done():
			return nil
		case grace = <-w.asked:
			kill = time.After(grace)
		case <-kill:
			w.log("pod %s is killed", w.pod.Name)
			return nil // work removes it
		}
	}
}

// report tells the API server how the pod is.
func (w *worker) report(ctx context.Context, ready bool) error {
	w.ready = ready
	w.readySince = meta.Now()
	is := core.ConditionFalse
	if ready {
		is = core.ConditionTrue
	}
	condition := func(kind core.PodConditionType, is core.ConditionStatus) core.PodCondition {
		return core.PodCondition{Type: kind, Status: is, LastTransitionTime: w.readySince}
	}
	started := meta.NewTime(w.started)
	of := w.pod.Spec.Containers[0]
	return w.api.patch(ctx, pathOf("Pod", w.pod.Name)+"/status", map[string]any{"metadata": map[string]any{"uid": w.pod.UID}, "status": core.PodStatus{
		Phase: core.PodRunning, PodIP: w.address, PodIPs: []core.PodIP{{IP: w.address}}, StartTime: &started,
		Conditions: []core.PodCondition{condition(core.PodInitialized, core.ConditionTrue), condition(core.ContainersReady, is), condition(core.PodReady, is)},
		ContainerStatuses: []core.ContainerStatus{{
			Name: of.Name, Image: of.Image, Ready: ready, Started: &ready, RestartCount: int32(w.starts - 1),
			State: core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: w.containerUpTime}},
		}},
	}})
}

// volumes makes what the pod mounts: files of Secrets, and the folder of a claim, which belongs to the pod's group.
func (w *worker) volumes(ctx context.Context) (mounts []mount, err error) {
	from := map[string]string{}
	for _, v := range w.pod.Spec.Volumes {
		switch {
		case v.Secret != nil:
			secret, err := get[core.Secret](ctx, w.api, pathOf("Secret", v.Secret.SecretName))
			if err != nil {
				return nil, err
			}
			folder := filepath.Join(w.runtime.dir, string(w.pod.UID)+"-"+v.Name)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return nil, err
			}
			for _, item := range v.Secret.Items {
				path := filepath.Join(folder, item.Path)
				if err := errors.Join(os.WriteFile(path, secret.Data[item.Key], os.FileMode(*v.Secret.DefaultMode)), os.Chown(path, 0, int(*w.pod.Spec.SecurityContext.FSGroup))); err != nil {
					return nil, err
				}
			}
			from[v.Name] = folder
		case v.PersistentVolumeClaim != nil:
			claim, err := get[core.PersistentVolumeClaim](ctx, w.api, "/api/v1/namespaces/"+namespace+"/persistentvolumeclaims/"+v.PersistentVolumeClaim.ClaimName)
			if err != nil {
				return nil, err
			}
			volume, err := get[core.PersistentVolume](ctx, w.api, "/api/v1/persistentvolumes/"+claim.Spec.VolumeName)
			if err != nil {
				return nil, err
			}
			from[v.Name] = volume.Spec.HostPath.Path
			group := int(*w.pod.Spec.SecurityContext.FSGroup)
			if err := errors.Join(os.Chown(from[v.Name], group, group), os.Chmod(from[v.Name], 0o770)); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("volume %s is of a kind that is not known here", v.Name)
		}
	}
	for _, m := range w.pod.Spec.Containers[0].VolumeMounts {
		mounts = append(mounts, mount{from[m.Name], m.MountPath, m.ReadOnly})
	}
	return mounts, nil
}
