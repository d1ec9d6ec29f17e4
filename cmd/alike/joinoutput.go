package main

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/alike-dev/alike"
	"github.com/alike-dev/alike/dedup"
)

// writeLinks writes the links as CSV or JSON lines. ids are the names of the first two columns.
func writeLinks(out io.Writer, r *alike.JoinResult, ids, with []string, asJSON, probability bool) error {
	buffer := bufio.NewWriterSize(out, 1<<16)
	names := append(slices.Clone(ids), "similarity")
	for _, c := range r.Columns {
		names = append(names, c.Left)
	}
	if probability {
		names = append(names, "probability")
	}
	for _, name := range with {
		names = append(names, "left_"+name, "right_"+name)
	}
	rows := csv.NewWriter(buffer)
	if !asJSON {
		_ = rows.Write(names) // Flush tells of errors
	}
	for _, l := range r.Links {
		row := []string{string(l.A), string(l.B), string(dedup.AppendSimilarity(nil, l.Similarity))}
		numbers := 3 + len(r.Columns)
		for _, s := range l.Fields {
			if s < 0 {
				row = append(row, "")
			} else {
				row = append(row, string(dedup.AppendSimilarity(nil, s)))
			}
		}
		if probability {
			row = append(row, string(dedup.AppendSimilarity(nil, l.Probability)))
			numbers++
		}
		for i := range with {
			row = append(row, string(l.WithA[i]), string(l.WithB[i]))
		}
		if !asJSON {
			_ = rows.Write(row)
		} else if err := writeObject(buffer, names, row, 2, numbers); err != nil {
			return err
		}
	}
	rows.Flush()
	return errors.Join(rows.Error(), buffer.Flush())
}

// writeObject writes a row as a JSON object; from…to−1 are numbers, empty for null.
func writeObject(w *bufio.Writer, names, row []string, from, to int) error {
	for i, value := range row {
		lead := ","
		if i == 0 {
			lead = "{"
		}
		key, err := json.Marshal(names[i])
		if err != nil {
			return err
		}
		text := []byte(value)
		switch isNumber := i >= from && i < to; {
		case isNumber && value == "":
			text = []byte("null")
		case !isNumber:
			if text, err = json.Marshal(value); err != nil {
				return err
			}
		}
		fmt.Fprintf(w, "%s%s:%s", lead, key, text)
	}
	_, err := w.WriteString("}\n")
	return err
}
