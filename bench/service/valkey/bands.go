package main

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/alike-dev/alike/measure"
	"github.com/alike-dev/alike/recipe"
)

// script looks for documents that have a key of this one, and adds it if there is none, or if it is told to:
//
//	bN   key → the first document that has it, for each of the keys of a document
//	d    id → text
const script = `local force, id, text = ARGV[1], ARGV[2], ARGV[3]
local found = {}
if force == '' then
  for i = 4, #ARGV do
    local at = redis.call('HGET', 'b' .. i, ARGV[i])
    if at and at ~= id then found[#found + 1] = at end
  end
end
if #found == 0 then
  for i = 4, #ARGV do redis.call('HSETNX', 'b' .. i, ARGV[i], id) end
  redis.call('HSET', 'd', id, text)
end
return found`

// bands decide about documents by keys in Valkey.
type bands struct {
	stores   []*client // one, or one for each check that waits, since no other call comes through meanwhile
	next     atomic.Uint64
	address  string
	wait     []string // for a second server; nil: do not wait
	hash     string   // of the script
	comparer *recipe.Comparer
	makers   sync.Pool
}

func newBands(address string, wait []string) (b *bands, err error) {
	b = &bands{address: address, wait: wait}
	for len(b.stores) == 0 || wait != nil && len(b.stores) < 64 {
		store, err := dial(address)
		if err != nil {
			return nil, err
		}
		b.stores = append(b.stores, store)
	}
	var o recipe.Options
	if o.Threshold, err = measure.NewThreshold(measure.Jaccard, 0.8); err != nil {
		return nil, err
	}
	r, err := recipe.New(o)
	if err != nil {
		return nil, err
	}
	b.comparer = r.NewComparer(false)
	b.makers.New = func() any { return r.NewMaker(recipe.MakerOptions{Signature: true}) }
	loaded, err := b.store().do([]string{"SCRIPT", "LOAD", script})
	if err == nil {
		b.hash, _ = loaded[0].(string)
	}
	return b, err
}

func (b *bands) store() *client { return b.stores[b.next.Add(1)%uint64(len(b.stores))] }

// check decides about a document and adds it if it is new: by one call where no other one has a key of it.
func (b *bands) check(id, text string) (of string, err error) {
	maker := b.makers.Get().(*recipe.Maker)
	defer b.makers.Put(maker)
	made := maker.Make([]byte(text))
	call := []string{"EVALSHA", b.hash, "0", "", id, text}
	for _, key := range append(maker.AppendKeys(nil), made.Digest[0]) {
		call = append(call, string(binary.LittleEndian.AppendUint64(nil, key)))
	}
	found, err := b.confirmed(call)
	all, _ := found.([]any)
	if err != nil || len(all) == 0 {
		return "", err
	}
	set, seen := slices.Clone(maker.Set()), map[any]bool{}
	for _, at := range all {
		if seen[at] {
			continue
		}
		seen[at] = true
		stored, err := b.store().do([]string{"HGET", "d", at.(string)})
		if err != nil {
			return "", err
		}
		other, _ := stored[0].(string)
		maker.Make([]byte(other))
		if _, alike := b.comparer.Sets(set, maker.Set()); alike {
			return at.(string), nil
		}
	}
	call[3] = "force"
	_, err = b.confirmed(call)
	return "", err
}

// confirmed sends a command, and returns when a second server has what it has written, if that is asked for.
func (b *bands) confirmed(command []string) (value any, err error) {
	commands := [][]string{command}
	if b.wait != nil {
		commands = append(commands, b.wait)
	}
	values, err := b.store().do(commands...)
	if err != nil {
		return nil, err
	}
	confirmed := values[len(values)-1]
	if all, ok := confirmed.([]any); ok && b.wait != nil { // of WAITAOF: here, elsewhere
		confirmed = all[1]
	}
	if n, _ := confirmed.(int64); b.wait != nil && n < 1 {
		return nil, errUnconfirmed
	}
	return values[0], nil
}

var errUnconfirmed = errors.New("no second server has it")

// fields returns id and text of a document in JSON as corpusgen writes it, which has no escapes but of quotes and slashes.
func fields(line string) (id, text string, ok bool) {
	_, rest, ok := strings.Cut(line, `"id":"`)
	id, rest, ok2 := strings.Cut(rest, `"`)
	_, text, ok3 := strings.Cut(rest, `"text":"`)
	return id, strings.TrimSuffix(strings.TrimSpace(text), `"}`), ok && ok2 && ok3
}
