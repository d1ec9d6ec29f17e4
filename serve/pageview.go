package serve

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"io"
	"mime/multipart"
	"net/url"
	"strconv"
	"strings"

	"github.com/alike-dev/alike/cluster"
	"github.com/alike-dev/alike/index"
	"github.com/alike-dev/alike/report"
)

// A view is what the page shows. Its query reproduces it.
type view struct {
	collection string
	id         string // of the document that is open; "": none
	text       string // that was pasted, if id is ""
	with       string // id of the document beside it; "": the most similar one
	threshold  string // "": that of the collection
}

// query returns the view as a query; ok says that its text has room in it.
func (v *view) query() (q string, ok bool) {
	values := url.Values{}
	packed := ""
	if v.text != "" {
		packed = pack(v.text)
	}
	for name, value := range map[string]string{"collection": v.collection, "id": v.id, "t": packed, "with": v.with, "threshold": v.threshold} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values.Encode(), len(packed) <= mostPacked && len(v.text) <= mostLinked
}

// pack makes a text short enough for a link, if it is not long.
func pack(text string) string {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic("serve: compression in memory failed: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

var errPacked = unprocessable("t", "is no text of a link")

// unpack is the inverse of pack. What is unpacked has a limit, since a few bytes may stand for many.
func unpack(packed string) (string, error) {
	data, err := base64.RawURLEncoding.DecodeString(packed)
	if err != nil {
		return "", errPacked
	}
	out, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), mostLinked+1))
	if err != nil || len(out) > mostLinked {
		return "", errPacked
	}
	return string(out), nil
}

// takeFile takes the text of a file, if one was sent.
func (v *view) takeFile(files []*multipart.FileHeader) error {
	if len(files) == 0 || files[0].Size == 0 {
		return nil
	}
	f, err := files[0].Open()
	if err != nil {
		return err
	}
	defer f.Close()
	body, err := io.ReadAll(f)
	v.text, v.with = string(body), ""
	return err
}

// shown is what the page shows of a collection.
type shown struct {
	*collection
	page *report.ServicePage
	view *view
}

func metaOf(columns [][]byte) string {
	meta := string(metadata(columns))
	if meta == "{}" {
		return ""
	}
	if len(meta) > mostMeta {
		meta = strings.ToValidUTF8(meta[:mostMeta], "") + "…"
	}
	return meta
}

func label(id string) string {
	runes := []rune(id)
	if len(runes) <= mostLabel {
		return id
	}
	return string(runes[:mostLabel]) + "…"
}

func asShare(s float64) string { return strconv.FormatFloat(s, 'f', 4, 64) }

// Sizes that keep the page below 150 KB whatever is shown, in bytes of HTML.
const (
	mostPiece       = 28_000 // of each text of a pair
	mostRows        = 20_000 // of the list of documents
	mostArea        = 20_000 // of the text that is shown for changes
	mostPacked      = 9_000  // of a text in a link
	mostLinked      = 64 << 10
	mostLooked      = 64 << 10 // bytes of a text that are aligned
	mostMeta        = 1_000    // bytes of metadata
	mostLabel       = 80       // characters of an id
	mostListed      = 100      // collections
	mostMatches     = 200      // documents of a search
	contentSecurity = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
		"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)

const (
	mostClusters = 20
	mostGrouped  = 100 // documents that are compared with each other: some milliseconds
)

// repeated fills in the documents with the most duplicates.
func (c *shown) repeated() {
	for _, r := range c.repeats.first(mostClusters) {
		query, _ := (&view{collection: c.name, id: r.id}).query()
		c.page.Repeated = append(c.page.Repeated, report.ServiceCluster{
			Label: label(r.id), Open: "/?" + query, Size: r.duplicates + 1, Inner: asShare(r.sum / float64(r.duplicates)), Weakest: asShare(r.least),
		})
	}
}

// grouped fills in which of the documents that were found, and reach the threshold, are alike among themselves.
func (c *shown) grouped(matches []index.Match, least float64) error {
	var slots []uint64
	for _, m := range matches[:min(len(matches), mostGrouped)] {
		if m.Similarity < least {
			break
		}
		slots = append(slots, m.Slot)
	}
	s := c.searchers.Get().(*index.Searcher)
	defer c.searchers.Put(s)
	links, err := s.Between(slots)
	if err != nil {
		return err
	}
	reach := links[:0]
	for _, l := range links {
		if l.Similarity >= least {
			reach = append(reach, l)
		}
	}
	for _, g := range cluster.Groups(len(slots), reach) {
		if len(c.page.Clusters) == mostClusters {
			c.page.ClustersLeft++
			continue
		}
		first, a, b := string(matches[g.Members[0]].ID), string(matches[g.Weakest.A].ID), string(matches[g.Weakest.B].ID)
		open, _ := (&view{collection: c.name, id: first, threshold: c.view.threshold}).query()
		pair, _ := (&view{collection: c.name, id: a, with: b, threshold: c.view.threshold}).query()
		c.page.Clusters = append(c.page.Clusters, report.ServiceCluster{
			Label: label(first), Open: "/?" + open, Size: int64(len(g.Members)), Inner: asShare(g.Inner), Weakest: asShare(g.Weakest.Similarity), Pair: "/?" + pair,
		})
	}
	return nil
}
