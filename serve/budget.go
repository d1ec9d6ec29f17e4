package serve

import (
	"net/http"
)

// A budget bounds how many requests of a kind are answered at once. It turns more away at once, before their bodies are
// read, so that what is under way ends soon.
type budget struct{ slots chan struct{} }

func newBudget(most int) *budget { return &budget{make(chan struct{}, most)} }

var errBusy = &Problem{Status: http.StatusTooManyRequests, Detail: "the server has as many requests as it can answer soon", retryAfter: 1}

// take returns a function that ends the request, or errBusy.
func (b *budget) take() (done func(), err error) {
	select {
	case b.slots <- struct{}{}:
		return func() { <-b.slots }, nil
	default:
		return nil, errBusy
	}
}
