package kubetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alike-dev/alike/internal/freeport"
)

// natsServers are three servers of NATS JetStream, outside the pods: what the chart calls an address.
type natsServers struct {
	cluster  *cluster
	program  string
	names    []string
	hosts    []string // addresses that pods reach
	monitors []string
}

// podsHost is this machine as pods see it.
const podsHost = "10.231.0.1"

// startNATS starts them. They end with the cluster's parts.
func startNATS(c *cluster, program string) (*natsServers, error) {
	n := &natsServers{cluster: c, program: program}
	var routes, own []string
	for range 3 {
		ports := make([]string, 3)
		for i := range ports {
			var err error
			if ports[i], err = freeport.Find(); err != nil {
				return nil, err
			}
		}
		n.hosts = append(n.hosts, podsHost+":"+ports[0])
		own, routes = append(own, ports[1]), append(routes, "nats://127.0.0.1:"+ports[1])
		n.monitors = append(n.monitors, "127.0.0.1:"+ports[2])
	}
	for i := range 3 {
		name := fmt.Sprintf("nats-%d", i)
		n.names = append(n.names, name)
		_, port, _ := strings.Cut(n.hosts[i], ":")
		config := fmt.Sprintf("server_name: %s\nlisten: 0.0.0.0:%s\nhttp: %s\nmax_payload: 8MB\njetstream { store_dir: %q, sync_interval: always, max_file: 4GB, max_mem: 1GB }\n"+
			"cluster { name: c, listen: 127.0.0.1:%s, no_advertise: true, routes: [%s] }\n", name, port, n.monitors[i], filepath.Join(c.dir, name), own[i], strings.Join(routes, ", "))
		if err := os.WriteFile(n.config(i), []byte(config), 0o600); err != nil {
			return nil, err
		}
		if err := n.start(i); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n *natsServers) config(i int) string { return filepath.Join(n.cluster.dir, n.names[i]+".conf") }

func (n *natsServers) start(i int) error {
	return n.cluster.run(n.names[i], n.program, "--config", n.config(i))
}

// url returns the address for the chart's collections.log.
func (n *natsServers) url() string { return "nats://" + strings.Join(n.hosts, ",") }

// ready waits until one of them is the leader of all.
func (n *natsServers) ready(ctx context.Context) error {
	return until(ctx, time.Minute, "NATS has a leader", func() error {
		_, err := n.leads(ctx, func(all jetStream) string { return all.Meta.Leader })
		return err
	})
}

// jetStream is what a server says of itself and of its streams.
type jetStream struct {
	Meta struct {
		Leader string `json:"leader"`
	} `json:"meta_cluster"`
	Accounts []struct {
		Streams []struct {
			Cluster struct {
				Leader string `json:"leader"`
			} `json:"cluster"`
		} `json:"stream_detail"`
	} `json:"account_details"`
}

func streamLeader(all jetStream) string {
	for _, a := range all.Accounts {
		for _, s := range a.Streams {
			return s.Cluster.Leader
		}
	}
	return ""
}

// leads returns the number of the server that leads something, as any of them says.
func (n *natsServers) leads(ctx context.Context, of func(jetStream) string) (int, error) {
	for _, monitor := range n.monitors {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+monitor+"/jsz?accounts=true&streams=true", nil)
		if err != nil {
			return 0, err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			continue
		}
		var all jetStream
		err = json.NewDecoder(answer.Body).Decode(&all)
		answer.Body.Close()
		if err != nil {
			return 0, err
		}
		for i, name := range n.names {
			if of(all) == name {
				return i, nil
			}
		}
	}
	return 0, errors.New("nobody leads")
}

// killLeader kills the server that leads the stream, and starts it again after a time.
func (n *natsServers) killLeader(ctx context.Context, away time.Duration) (name string, err error) {
	i, err := n.leads(ctx, streamLeader)
	if err != nil {
		return "", err
	}
	n.cluster.kill(n.names[i])
	select {
	case <-time.After(away):
	case <-ctx.Done():
	}
	return n.names[i], n.start(i)
}
