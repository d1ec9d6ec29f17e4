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
