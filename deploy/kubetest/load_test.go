package kubetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An answer is how one request ended.
type answer struct {
	at   time.Time
	took time.Duration
	err  error
}

// seen is how requests ended. Any number of goroutines use it.
type seen struct {
	mu      sync.Mutex
	answers []answer
}

// observe asks, and notes how that ended.
func (s *seen) observe(ask func() error) {
	begun := time.Now()
	err := ask()
	took := time.Since(begun)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = append(s.answers, answer{begun.Add(took), took, err})
}

// A load asks for fingerprints by a number of clients, each of which asks again when it has its answer.
type load struct {
	url, token string
	bodies     [][]byte
	client     *http.Client
	first      sync.Map // by the number of a body, the first answer to it: all others must be the same
	sent       atomic.Int64
	seen
}

// textBytes is how long a text is: it takes some milliseconds of a processor.
const textBytes = 64 << 10

func newLoad(url, token string) (*load, error) {
	l := &load{url: url, token: token}
	l.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}, Timeout: time.Minute}
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 32 {
		var text strings.Builder
		for text.Len() < textBytes {
			fmt.Fprintf(&text, "word%d ", r.IntN(5000))
		}
		body, err := json.Marshal(map[string]string{"id": fmt.Sprint(i), "text": text.String(), "preset": "exlsh-word"})
		if err != nil {
			return nil, err
		}
		l.bodies = append(l.bodies, body)
	}
	return l, nil
}

// repeat has a number of clients ask, each again after a pause, until the context ends; what has been asked by then is
// waited for. ask gets the client's number and how often it has asked before.
func repeat(ctx context.Context, clients int, pause time.Duration, ask func(client, before int)) {
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				ask(c, n)
				if pause > 0 {
					time.Sleep(pause)
				}
			}
		})
	}
	group.Wait()
}

// run asks by a number of clients until the context ends.
func (l *load) run(ctx context.Context, clients int, pause time.Duration) {
	repeat(ctx, clients, pause, func(client, before int) { l.ask((client + before) % len(l.bodies)) })
}

func (l *load) ask(i int) {
	l.sent.Add(1)
	l.observe(func() error {
		text, err := l.send(i)
		if err != nil {
			return err
		}
		if first, _ := l.first.LoadOrStore(i, text); first != text || !strings.Contains(text, `"signature"`) {
			return fmt.Errorf("another answer: %.100q", text)
		}
		return nil
	})
}

func (l *load) send(i int) (string, error) {
	r, err := http.NewRequest(http.MethodPost, l.url+"/v1/sketch", bytes.NewReader(l.bodies[i]))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+l.token)
	got, err := l.client.Do(r)
	if err != nil {
		return "", err
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.200s", got.Status, body)
	}
	return string(body), err
}

// A figure is what a load saw in some time.
type figure struct {
	answers, failed int
	second          float64 // answers a second
	median, p99     time.Duration
	fault           error // the first
}

func (f figure) String() string {
	return fmt.Sprintf("%d answers, %.0f/s, median %v, p99 %v, %d failed", f.answers, f.second, f.median.Round(time.Millisecond), f.p99.Round(time.Millisecond), f.failed)
}

// between returns what was seen between two times.
func (s *seen) between(from, to time.Time) (f figure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var took []time.Duration
	for _, a := range s.answers {
		if a.at.Before(from) || !a.at.Before(to) {
			continue
		}
		f.answers++
		if a.err != nil {
			f.failed++
			if f.fault == nil {
				f.fault = a.err
			}
		}
		took = append(took, a.took)
	}
	if len(took) == 0 {
		return f
	}
	slices.Sort(took)
	f.second = float64(len(took)) / to.Sub(from).Seconds()
	f.median, f.p99 = took[len(took)/2], took[len(took)*99/100]
	return f
}
