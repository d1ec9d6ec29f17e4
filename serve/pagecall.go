package serve

import (
	"bytes"
	"encoding/base64"
	"net/http"

	"github.com/alike-dev/alike/report"
)

// pageCall is for the page, with the rights of its cookie.
type pageCall struct{ *call }

func viewing(s *Server) *budget { return s.pages }

func (c pageCall) sendPage(status int, p *report.ServicePage) error {
	var out bytes.Buffer
	if err := report.Service(&out, p); err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", contentSecurity)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	c.w.WriteHeader(status)
	_, err := c.w.Write(out.Bytes())
	return err
}

// tokenCookie has the token of the page. The page reads it only, so that it needs no other defence against requests
// from other sites than that browsers do not send it with them.
const tokenCookie = "alike_token"

// useCookie lets a request have the rights of the token in its cookie.
func (c pageCall) useCookie() {
	cookie, err := c.r.Cookie(tokenCookie)
	if err != nil || c.r.Header.Get("Authorization") != "" {
		return
	}
	token, err := base64.RawURLEncoding.DecodeString(cookie.Value)
	if err != nil {
		return
	}
	c.r = c.r.Clone(c.r.Context())
	c.r.Header.Set("Authorization", "Bearer "+string(token))
}

// cookie returns the cookie of a token; "" removes it.
func (c pageCall) cookie(token string) *http.Cookie {
	k := &http.Cookie{
		Name: tokenCookie, Value: base64.RawURLEncoding.EncodeToString([]byte(token)), Path: "/",
		HttpOnly: true, Secure: c.r.TLS != nil, SameSite: http.SameSiteStrictMode,
	}
	if token == "" {
		k.MaxAge = -1
	}
	return k
}
