package serve

import (
	"io"
	"net/http"
	"net/url"

	"github.com/alike-dev/alike/report"
)

// mostForm is the largest form of a token and a view, in bytes.
const mostForm = 64 << 10

// login keeps a token that is right in a cookie.
func (c pageCall) login() error {
	if err := http.NewCrossOriginProtection().Check(c.r); err != nil {
		return &Problem{Status: http.StatusForbidden, Detail: "the form is that of another site"}
	}
	limits := c.config.Limits
	limits.Body = mostForm
	var form url.Values
	err := readBody(c.w, c.r, &limits, func(body []byte) (err error) {
		form, err = url.ParseQuery(string(body))
		if err != nil {
			return &Problem{Status: http.StatusBadRequest, Detail: "the form cannot be read"}
		}
		return nil
	})
	if err != nil {
		return err
	}
	next, err := url.ParseQuery(form.Get("next"))
	if err != nil {
		next = nil
	}
	c.r = c.r.Clone(c.r.Context())
	c.r.Header.Set("Authorization", "Bearer "+form.Get("token"))
	if err := c.need(ReadAny); err != nil {
		p := &report.ServicePage{Login: true, Next: next.Encode(), Problem: "This is not a valid token."}
		return c.sendPage(http.StatusUnauthorized, p)
	}
	http.SetCookie(c.w, c.cookie(form.Get("token")))
	http.Redirect(c.w, c.r, "/?"+next.Encode(), http.StatusSeeOther)
	return nil
}

func (c pageCall) logout() error {
	if err := http.NewCrossOriginProtection().Check(c.r); err != nil {
		return &Problem{Status: http.StatusForbidden, Detail: "the form is that of another site"}
	}
	http.SetCookie(c.w, c.cookie(""))
	http.Redirect(c.w, c.r, "/", http.StatusSeeOther)
	return nil
}

// counters answers the statistics of a collection, for the script of the page.
func (c pageCall) counters() error {
	c.useCookie()
	name := c.r.URL.Query().Get("collection")
	if err := c.config.Tokens.allow(c.r, Read, name); err != nil {
		return err
	}
	of, done, err := c.store.use(name)
	if err != nil {
		return err
	}
	defer done()
	return c.sendJSON(http.StatusOK, of.stats(c.config.Durability))
}

func (c pageCall) style() error {
	return c.sendAsset("text/css; charset=utf-8", report.ServiceStyle())
}
func (c pageCall) script() error {
	return c.sendAsset("text/javascript; charset=utf-8", report.ServiceScript())
}

func (c pageCall) sendAsset(kind, body string) error {
	c.w.Header().Set("Content-Type", kind)
	c.w.Header().Set("Cache-Control", "no-cache")
	_, err := io.WriteString(c.w, body)
	return err
}
