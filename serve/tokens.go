package serve

import (
	"bufio"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// A Right is what a token allows in a collection. Write includes Read, Admin both.
type Right int

const (
	anybody Right = iota // needs no token
	ReadAny              // Read in some collection
	Read
	Write
	Admin
	ReadAll // Read in all collections
)

// Tokens are the bearer tokens of a server. They can be replaced while it runs.
type Tokens struct{ list atomic.Pointer[[]token] }

type token struct {
	digest      [sha256.Size]byte
	right       Right
	collections []string // "*": all
}

// leastToken is the least length of a token.
const leastToken = 16

// Set replaces the tokens by those of a text with a line for each: the token, read, write or admin, and the
// collections, separated by commas, or *. Blank lines and those that begin with # say nothing. After an error the
// tokens are as before; it names the line and not the token.
func (t *Tokens) Set(text string) error {
	var list []token
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 3 {
			return fmt.Errorf("tokens, line %d: has %d words: give a token, a right and collections", n, len(words))
		}
		right, ok := map[string]Right{"read": Read, "write": Write, "admin": Admin}[words[1]]
		if !ok {
			return fmt.Errorf("tokens, line %d: the right is not read, write or admin", n)
		}
		if len(words[0]) < leastToken {
			return fmt.Errorf("tokens, line %d: a token has at least %d characters", n, leastToken)
		}
		list = append(list, token{sha256.Sum256([]byte(words[0])), right, strings.Split(words[2], ",")})
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if len(list) == 0 {
		return fmt.Errorf("tokens: there is none")
	}
	t.list.Store(&list)
	return nil
}

// find returns the token of a header. It takes the same time whichever token it is, and if it is none.
func (t *Tokens) find(authorization string) (found token, ok bool) {
	given := authorization
	if scheme, rest, ok := strings.Cut(authorization, " "); ok && strings.EqualFold(scheme, "Bearer") {
		given = rest
	}
	digest := sha256.Sum256([]byte(given))
	at := -1
	list := *t.list.Load()
	for i := range list {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(digest[:], list[i].digest[:]), i, at)
	}
	if at < 0 {
		return found, false
	}
	return list[at], true
}

// allow is an error unless the request has a right in a collection. Without tokens all is allowed.
func (t *Tokens) allow(r *http.Request, right Right, collection string) error {
	return t.allowToken(r.Header.Get("Authorization"), right, collection)
}

// allowToken is allow by the value of the header Authorization.
func (t *Tokens) allowToken(authorization string, right Right, collection string) error {
	if t == nil || right == anybody {
		return nil
	}
	found, ok := t.find(authorization)
	if !ok {
		return &Problem{Status: http.StatusUnauthorized, Detail: "needs a valid bearer token"}
	}
	all := slices.Contains(found.collections, "*")
	switch {
	case right == ReadAny:
		ok = true
	case right == ReadAll:
		ok = all
	default:
		ok = found.right >= right && (all || slices.Contains(found.collections, collection))
	}
	if !ok {
		return &Problem{Status: http.StatusForbidden, Detail: "the token does not have the right to do this"}
	}
	return nil
}
