package browsertest

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/alike-dev/alike/serve"
)

// token is that of an administrator, in tests with tokens.
const token = "of-an-administrator-0123456789"

const news = "The pass above the lake was closed for a third day by snow, and the road to the village is open only for cars " +
	"with chains. The school stays closed until Monday, said the mayor, who asked all guests to keep off the slopes. "

// collection makes a collection with documents that are alike, and duplicates that were refused.
func collection(t *testing.T, address string) {
	t.Helper()
	at := address + "/v1/collections/news"
	send(t, "PUT", at, map[string]any{"threshold": 0.5, "ngram": 2})
	send(t, "PUT", address+"/v1/collections/other", map[string]any{"ngram": 2})
	for i, more := range []string{"", "Trains run.", "Trains run, and a helicopter brings bread.", "A reporter of the valley's own newspaper wrote this on the spot."} {
		send(t, "PUT", fmt.Sprintf("%s/documents/story-%d", at, i), map[string]any{"text": news + more, "source": "agency"})
	}
	for i := range 30 {
		send(t, "POST", at+"/check", map[string]any{"id": fmt.Sprint("copy-", i), "text": news + fmt.Sprint("Edition ", i%7)})
	}
}

// views are those that the tests look at, by name.
func views(address string) map[string]string {
	return map[string]string{
		"collections": address + "/",
		"collection":  query(address, map[string]string{"collection": "news"}),
		"document":    query(address, map[string]string{"collection": "news", "id": "story-0", "with": "story-2"}),
		"threshold":   query(address, map[string]string{"collection": "news", "id": "story-0", "threshold": "0.93"}),
		"nothing":     query(address, map[string]string{"collection": "missing"}),
	}
}

// No view is wider than its window, or complains; what axe-core finds is not serious; screenshots are artefacts.
func TestEveryViewCanBeSeenAndHeard(t *testing.T) {
	address := start(t, serve.Config{})
	b := open(t)
	collection(t, address)
	axe, err := os.ReadFile(os.Getenv("ALIKE_AXE"))
	if err != nil {
		t.Log("axe-core is not asked: ALIKE_AXE does not name its axe.min.js")
	}
	for _, l := range looks {
		b.as(l)
		for name, view := range views(address) {
			what := name + "-" + l.name
			b.do(chromedp.Navigate(view), chromedp.WaitReady("main"))
			if over := value[int](b, `document.documentElement.scrollWidth - window.innerWidth`); over > 0 {
				t.Errorf("%s: %d pixels too wide", what, over)
			}
			b.quiet(what)
			b.picture(what)
			if len(axe) > 0 {
				b.accessible(what, string(axe))
			}
		}
	}
}

func TestTheSliderCountsAgain(t *testing.T) {
	address := start(t, serve.Config{})
	b := open(t)
	collection(t, address)
	b.do(chromedp.Navigate(views(address)["document"]), chromedp.WaitReady("#threshold"))
	counts := func() (told, seen int) {
		return value[int](b, `Number(document.querySelector('#count').textContent)`),
			value[int](b, `[...document.querySelectorAll('#matches li')].filter(e => e.offsetParent).length`)
	}
	if told, seen := counts(); told != 3 || seen != 3 {
		t.Errorf("%d are told and %d shown, of 3", told, seen)
	}
	b.do(chromedp.Focus("#threshold"))
	for range 60 { // by keys, as who has no mouse
		b.do(chromedp.KeyEvent(kb.ArrowRight))
		if told, seen := counts(); told < 3 {
			if told != seen {
				t.Errorf("%d are told and %d shown", told, seen)
			}
			break
		}
	}
	told, _ := counts()
	if told == 3 {
		t.Fatal("the slider changes nothing")
	}
	least := value[string](b, `document.querySelector('#threshold').value`)
	at, err := url.Parse(value[string](b, `location.href`))
	if err != nil || at.Query().Get("threshold") != least {
		t.Errorf("the address is %v at %s", at, least)
	}
	b.do(chromedp.Reload(), chromedp.WaitReady("#threshold"))
	if again, seen := counts(); again != told || seen != told {
		t.Errorf("the address leads to %d and %d, not %d", again, seen, told)
	}
	b.quiet("slider")
}

func TestKeysGoFromPassageToPassage(t *testing.T) {
	address := start(t, serve.Config{})
	b := open(t)
	send(t, "PUT", address+"/v1/collections/news", map[string]any{"threshold": 0.2, "ngram": 2})
	for id, middle := range map[string]string{"a": "and then they slept", "b": "but nobody came in time"} {
		send(t, "PUT", address+"/v1/collections/news/documents/"+id, map[string]any{"text": news + middle + strings.ToUpper(" one more sentence that both of them have")})
	}
	b.do(chromedp.Navigate(query(address, map[string]string{"collection": "news", "id": "a", "with": "b"})), chromedp.WaitReady("#left .same"))
	focused := `document.activeElement.id`
	for _, step := range []struct{ key, want string }{{"n", "a1"}, {"n", "a2"}, {"n", "a1"}, {"p", "a2"}, {"p", "a1"}} {
		b.do(chromedp.KeyEvent(step.key))
		if got := value[string](b, focused); got != step.want {
			t.Errorf("%s leads to %q, not %s", step.key, got, step.want)
		}
	}
	if n := value[int](b, `document.querySelectorAll('.here').length`); n != 2 {
		t.Errorf("%d passages are marked, not one on each side", n)
	}
	if alone := value[string](b, `document.querySelector('#left mark').textContent`); !strings.Contains(alone, "and then they slept") {
		t.Errorf("not shared is %q", alone)
	}
	b.do(chromedp.Focus("#text"), chromedp.KeyEvent("n"))
	if typed := value[string](b, `document.querySelector('#text').value`); typed != "n" {
		t.Errorf("in a text %q is typed", typed)
	}
	b.quiet("keys")
}

func TestThePageWorksWithoutJavaScript(t *testing.T) {
	address := start(t, serve.Config{})
	b := open(t)
	collection(t, address)
	b.do(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(query(address, map[string]string{"collection": "news"})),
		chromedp.SendKeys("#text", news), chromedp.Submit("#pasted"), chromedp.WaitVisible("#right .same"))
	var found, address2 string
	b.do(chromedp.Text("#count", &found), chromedp.Click("#matches li:nth-child(2) button"), chromedp.WaitVisible("#matches li.chosen:nth-child(2)"),
		chromedp.Location(&address2))
	if found != "4" || !strings.Contains(address2, "with=") {
		t.Errorf("%s are found, at %s", found, address2)
	}
}

func TestDroppedFilesAreAsked(t *testing.T) {
	address := start(t, serve.Config{})
	b := open(t)
	collection(t, address)
	b.do(chromedp.Navigate(query(address, map[string]string{"collection": "news"})), chromedp.WaitReady("#text"),
		chromedp.Evaluate(fmt.Sprintf(`(() => { const d = new DataTransfer(); d.items.add(new File([%q], 'a.txt', {type: 'text/plain'}));
			document.querySelector('#text').dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true})); })()`, news), nil),
		chromedp.WaitVisible("#right .same"))
	b.quiet("drop")
}

// Whatever stands in ids, texts, metadata, names and addresses is shown and does not run.
func TestMarkupInDocumentsDoesNotRun(t *testing.T) {
	address := start(t, serve.Config{})
	b := open(t)
	at := address + "/v1/collections/c"
	send(t, "PUT", at, map[string]any{"threshold": 0.5, "ngram": 2})
	all := markup(t)
	for _, attack := range all {
		for _, id := range []string{attack, attack + " again"} {
			send(t, "PUT", at+"/documents/"+url.PathEscape(id), map[string]any{"text": attack + " " + news, attack: attack})
		}
	}
	for _, attack := range all {
		b.do(chromedp.Navigate(query(address, map[string]string{"collection": "c", "id": attack, "with": attack + " again"})), chromedp.WaitReady("#right"))
		if text := value[string](b, `document.querySelector('#left').textContent`); !strings.HasPrefix(text, strings.ReplaceAll(attack, "\r", "")) {
			t.Errorf("%q is shown as %.60q", attack, text)
		}
		b.do(chromedp.Navigate(query(address, map[string]string{"collection": attack, "threshold": attack})), chromedp.WaitReady("main"))
		b.quiet(attack)
	}
}

func TestATokenStaysFromScripts(t *testing.T) {
	tokens := new(serve.Tokens)
	if err := tokens.Set(token + " admin *"); err != nil {
		t.Fatal(err)
	}
	address := start(t, serve.Config{Tokens: tokens})
	b := open(t)
	collection(t, address)
	b.do(chromedp.Navigate(views(address)["document"]), chromedp.WaitReady("input[type=password]"))
	b.picture("login")
	b.do(chromedp.SendKeys("input[type=password]", token), chromedp.Submit("main form"), chromedp.WaitVisible("#right .same"))
	if cookie := value[string](b, `document.cookie`); cookie != "" {
		t.Errorf("a script sees %q", cookie)
	}
	b.do(chromedp.Click("header form button"), chromedp.WaitVisible("input[type=password]"))
	b.quiet("login")
}
