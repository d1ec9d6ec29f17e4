package main

import (
	"encoding/csv"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/simjoin"
)

func read(path string) (rows [][]string, ids map[int]int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	if _, err := r.Read(); err != nil {
		return nil, nil, err
	}
	ids = map[int]int{}
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return rows, ids, nil
		} else if err != nil {
			return nil, nil, err
		}
		id, _ := strconv.Atoi(rec[0])
		ids[id] = len(rows)
		rows = append(rows, rec[1:])
	}
}

// tokens appends the tokens of a field.
func tokens(dst []string, field int, value, cut string) []string {
	prefix := string(rune('A' + field))
	for _, w := range strings.Fields(strings.ToLower(value)) {
		if cut != "grams" {
			dst = append(dst, prefix+w)
		}
		if cut != "words" {
			p := "^" + w + "$"
			for i := 0; i+3 <= len(p); i++ {
				dst = append(dst, prefix+"#"+p[i:i+3])
			}
		}
	}
	return dst
}

func vectorsOf(rows [][]string, cut string, rarest int) *simjoin.Vectors {
	dictionary := map[string]uint32{}
	var df []uint32
	sets := make([][]uint32, len(rows))
	var buf []string
	for i, row := range rows {
		buf = buf[:0]
		for f, value := range row {
			buf = tokens(buf, f, value, cut)
		}
		set := make([]uint32, 0, len(buf))
		for _, t := range buf {
			id, ok := dictionary[t]
			if !ok {
				id = uint32(len(df))
				dictionary[t] = id
				df = append(df, 0)
			}
			set = append(set, id)
		}
		slices.Sort(set)
		set = slices.Compact(set)
		for _, id := range set {
			df[id]++
		}
		sets[i] = set
	}
	v := new(simjoin.Vectors)
	var weights []uint32
	for _, set := range sets {
		if rarest > 0 && len(set) > rarest {
			slices.SortFunc(set, func(a, b uint32) int { return int(df[a]) - int(df[b]) })
			set = set[:rarest]
			slices.Sort(set)
		}
		weights = weights[:0]
		kept := set[:0]
		for _, id := range set {
			if w := math.Log(float64(len(rows)) / (1 + float64(df[id]))); w > 0 {
				weights = append(weights, 1+uint32(1024*w))
				kept = append(kept, id)
			}
		}
		if err := v.Append(kept, weights); err != nil {
			panic(err)
		}
	}
	return v
}
