package ordered

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/alike-dev/alike/internal/durable"
)

// snapshots are those of a replica: in its folder, in the bucket, and with others.
type snapshots struct {
	c      *Config
	ctx    context.Context
	folder *folder
	newest atomic.Uint64 // last entry of the newest snapshot in the folder; 0: none
}

// upload copies a snapshot into the bucket, and removes all others but the newest there: each replica has its own uploaded, so
// that what is trimmed after it is in one that is there.
func (s *snapshots) upload(number uint64, size int64) error {
	all, err := s.inBucket()
	if err != nil {
		return err
	}
	file, err := durable.OpenOwn(s.c.FS, s.folder.path(number))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := s.c.Bucket.Upload(s.ctx, snapshotName(number), file, size); err != nil {
		return err
	}
	for i, old := range all {
		if i+1 >= keptSnapshots {
			err = errors.Join(err, s.c.Bucket.Remove(s.ctx, snapshotName(old)))
		}
	}
	return err
}

// inBucket returns the numbers of the snapshots in the bucket, the newest first.
func (s *snapshots) inBucket() (all []uint64, err error) {
	if s.c.Bucket == nil {
		return nil, nil
	}
	err = s.c.Bucket.List(s.ctx, func(name string, _ int64) error {
		if number, ok := numberOf(name); ok {
			all = append(all, number)
		}
		return nil
	})
	slices.Sort(all)
	slices.Reverse(all)
	return all, err
}

// download copies a snapshot of the bucket into the folder.
func (s *snapshots) download(number uint64) error {
	_, err := s.folder.write(number, func(to io.Writer) error { return s.c.Bucket.Download(s.ctx, snapshotName(number), to) })
	return err
}

// kept returns the last entry of the newest snapshot that outlives this process, 0 if there is none.
func (s *snapshots) kept() uint64 {
	if !s.c.Durable && s.c.Bucket == nil {
		return 0
	}
	return s.newest.Load()
}

// question asks another replica for a snapshot: for the number of its newest one, or for a piece of one.
type question struct {
	To     string `json:"to,omitempty"` // the replica; "": whoever has one
	From   string `json:"from"`
	Number uint64 `json:"number,omitempty"`
	Offset int64  `json:"offset,omitempty"`
}

// offer is the answer to a question for the newest snapshot. That to one for a piece is the piece itself.
type offer struct {
	Name   string `json:"name"`
	Number uint64 `json:"number"`
	Size   int64  `json:"size"`
}

// answer answers the questions of others.
func (s *snapshots) answer(body []byte) []byte {
	var q question
	if json.Unmarshal(body, &q) != nil || q.From == s.c.Name || q.To != "" && q.To != s.c.Name {
		return nil
	}
	if q.To == "" {
		q.Number = s.newest.Load()
	}
	if q.Number == 0 {
		return nil
	}
	file, err := durable.OpenOwn(s.c.FS, s.folder.path(q.Number))
	if err != nil {
		return nil
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	if q.To == "" {
		answer, err := json.Marshal(offer{s.c.Name, q.Number, info.Size()})
		if err != nil {
			return nil
		}
		return answer
	}
	piece := make([]byte, max(min(int64(s.c.Log.MostBytes()), mostEntry, info.Size()-q.Offset), 0))
	if n, err := file.ReadAt(piece, q.Offset); err != nil && !(errors.Is(err, io.EOF) && n == len(piece)) {
		return nil
	}
	return piece
}

// fetch copies the newest snapshot of another replica into the folder, if it fits.
func (s *snapshots) fetch(fits func(number uint64) bool) (number uint64, err error) {
	var o offer
	answer, err := s.ask(question{From: s.c.Name})
	if err == nil {
		err = json.Unmarshal(answer, &o)
	}
	if err == nil && !fits(o.Number) {
		err = ErrTrimmed
	}
	if err != nil {
		return 0, err
	}
	_, err = s.folder.write(o.Number, func(to io.Writer) error {
		for at := int64(0); at < o.Size; {
			piece, err := s.ask(question{From: s.c.Name, To: o.Name, Number: o.Number, Offset: at})
			if err == nil && len(piece) == 0 {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			if _, err := io.Copy(to, bytes.NewReader(piece)); err != nil {
				return err
			}
			at += int64(len(piece))
		}
		return nil
	})
	return o.Number, err
}

func (s *snapshots) ask(q question) ([]byte, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(s.ctx, askLimit)
	defer cancel()
	return s.c.Log.Ask(ctx, body)
}

const askLimit = 2 * time.Second
