package serve

import (
	"net/http"
	"sync/atomic"
	"time"
)

// dated is the time of answers, made anew once a second.
type dated struct{ text atomic.Pointer[dateText] }

type dateText struct {
	second int64
	text   string
}

func (d *dated) now() string {
	now := time.Now()
	t := d.text.Load()
	if t == nil || t.second != now.Unix() {
		t = &dateText{now.Unix(), now.UTC().Format(http.TimeFormat)}
		d.text.Store(t)
	}
	return t.text
}
