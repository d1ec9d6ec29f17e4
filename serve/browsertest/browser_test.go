package browsertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/alike-dev/alike/serve"
)

// start returns the address of a server of the tests, and what the token of an administrator is.
func start(t *testing.T, config serve.Config) (address string) {
	t.Helper()
	config.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := serve.New(config)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
		defer cancel()
		_ = s.Shutdown(ctx) // connections of the browser are cut
		<-served
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// send sends JSON to the API, which must take it.
func send(t *testing.T, method, address string, body any) {
	t.Helper()
	content, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if out, err := io.ReadAll(answer.Body); answer.StatusCode >= http.StatusBadRequest {
		t.Fatalf("%s %s: %d %s %v", method, address, answer.StatusCode, out, err)
	}
}

// tab is a page in a browser, with what it complains about.
type tab struct {
	context.Context
	t *testing.T

	mu       sync.Mutex
	troubles []string
	dialogs  int
}

// open opens a tab. The test is skipped if there is no browser.
func open(t *testing.T) *tab {
	t.Helper()
	if !hasBrowser() {
		t.Skip("there is no Chromium: apt-get install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.Flag("headless", "new"))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	ctx, late := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(late)
	b := &tab{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, b.listen)
	b.do(log.Enable(), page.Enable())
	return b
}

func hasBrowser() bool {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell", "headless_shell"} {
		if _, err := exec.LookPath(name); err == nil {
			return true
		}
	}
	return false
}

// listen notes what no page may do: errors of scripts, resources that its policy refuses, and dialogs.
func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.troubles = append(b.troubles, e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError && e.Entry.Source != log.SourceNetwork {
			b.troubles = append(b.troubles, e.Entry.Text)
		}
	case *page.EventJavascriptDialogOpening:
		b.dialogs++
		go func() { _ = chromedp.Run(b, page.HandleJavaScriptDialog(true)) }()
	}
}

// quiet fails the test if something was noted.
func (b *tab) quiet(what string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.troubles) > 0 || b.dialogs > 0 {
		b.t.Errorf("%s: %d dialogs, %q", what, b.dialogs, b.troubles)
	}
	b.troubles, b.dialogs = nil, 0
}

func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// value returns the value of an expression in the page.
func value[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &v))
	return v
}

// look is how a page is looked at.
type look struct {
	name  string
	width int64
	dark  bool
	print bool // on paper
}

var looks = []look{{"wide-light", 1280, false, false}, {"wide-dark", 1280, true, false}, {"narrow-light", 390, false, false}, {"narrow-dark", 390, true, false}}

// as sets width and colours.
func (b *tab) as(l look) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	media := "screen"
	if l.print {
		media = "print"
	}
	b.do(chromedp.EmulateViewport(l.width, 900), emulation.SetEmulatedMedia().WithMedia(media).WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// picture keeps a screenshot of the whole page among the artefacts of the test.
func (b *tab) picture(name string) {
	b.t.Helper()
	var png []byte
	b.do(chromedp.FullScreenshot(&png, 100))
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), png, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// violation is what axe-core finds.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML string }
}

// accessible fails the test if axe-core finds something serious. axe is its script.
func (b *tab) accessible(what, axe string) {
	b.t.Helper()
	var found []violation
	b.do(chromedp.Evaluate(axe+"\n;0", nil), chromedp.Evaluate(`axe.run().then(r => r.violations)`, &found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	for _, v := range found {
		if v.Impact == "serious" || v.Impact == "critical" {
			b.t.Errorf("%s: %s, %s: %s", what, v.Impact, v.Help, v.Nodes[0].HTML)
		}
	}
}

// markup returns texts that would run as a script in a page that does not escape them: they open a dialog.
func markup(t *testing.T) (all []string) {
	t.Helper()
	content, err := os.ReadFile("../testdata/markup.json")
	var frames []string
	if err = errors.Join(err, json.Unmarshal(content, &frames)); err != nil {
		t.Fatal(err)
	}
	for i, frame := range frames {
		for j, run := range []string{"alert(%d)", "alert`%d`", "confirm(%d)"} {
			all = append(all, strings.ReplaceAll(frame, "%s", fmt.Sprintf(run, 3*i+j)))
		}
	}
	return all
}

// query returns an address with a query.
func query(address string, of map[string]string) string {
	values := url.Values{}
	for name, value := range of {
		values.Set(name, value)
	}
	return address + "/?" + values.Encode()
}
