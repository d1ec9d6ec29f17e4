package pretext

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/alike-dev/alike/internal/bom"
)

// textOfHTML writes the text of a page: what a reader sees, each block on lines of its own. What is in head, but for the
// title, in script, style, template and noscript is left out. Cost: O(page).
func textOfHTML(out io.Writer, in io.Reader, most int64) error {
	page, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return err
	}
	if int64(len(page)) > most {
		return errLong
	}
	if page, err = asUTF8(page); err != nil {
		return err
	}
	w := &pageText{}
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if z.Err() != io.EOF {
				return z.Err()
			}
			w.endLine()
			_, err := out.Write(w.out.Bytes())
			return err
		case html.TextToken:
			w.text(z.Text())
		case html.StartTagToken:
			name, _ := z.TagName()
			w.tag(atom.Lookup(name), 1)
		case html.EndTagToken:
			name, _ := z.TagName()
			w.tag(atom.Lookup(name), -1)
		case html.SelfClosingTagToken:
			name, _ := z.TagName()
			w.tag(atom.Lookup(name), 0)
		}
	}
}

// pageText collects the text of a page.
type pageText struct {
	out    bytes.Buffer
	line   []byte
	hidden int // elements around that nobody sees
	pre    int // elements around that keep their line ends
}

// unseen are elements whose text is no text of the page.
var unseen = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Template: true, atom.Noscript: true, atom.Iframe: true, atom.Svg: true, atom.Math: true}

// inline are elements that stand within a line; each other one begins and ends one.
var inline = map[atom.Atom]bool{
	0: true, atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Big: true, atom.Cite: true, atom.Code: true,
	atom.Data: true, atom.Del: true, atom.Dfn: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Img: true, atom.Ins: true,
	atom.Kbd: true, atom.Label: true, atom.Mark: true, atom.Q: true, atom.Ruby: true, atom.Rb: true, atom.S: true, atom.Samp: true,
	atom.Small: true, atom.Span: true, atom.Strike: true, atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Time: true,
	atom.Tt: true, atom.U: true, atom.Var: true, atom.Wbr: true,
}

// tag takes a tag; depth is 1 for one that opens, -1 for one that closes, 0 for both at once.
func (w *pageText) tag(a atom.Atom, depth int) {
	switch {
	case unseen[a]:
		w.hidden = max(0, w.hidden+depth)
	case a == atom.Pre || a == atom.Textarea:
		w.endLine()
		w.pre = max(0, w.pre+depth)
	case a == atom.Td || a == atom.Th:
		w.space()
	case !inline[a]:
		w.endLine()
	}
}

// text takes text between tags, with its entities.
func (w *pageText) text(raw []byte) {
	if w.hidden > 0 {
		return
	}
	text := html.UnescapeString(string(raw))
	if w.pre > 0 {
		for i, line := range strings.Split(text, "\n") {
			if i > 0 {
				w.endLine()
			}
			w.line = append(w.line, line...)
		}
		return
	}
	for i, word := range strings.FieldsFunc(text, isSpace) {
		if i > 0 || isSpace(rune(text[0])) {
			w.space()
		}
		w.line = append(w.line, word...)
	}
	if text != "" && isSpace(rune(text[len(text)-1])) {
		w.space()
	}
}

// isSpace tells whether HTML collapses a character.
func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

func (w *pageText) space() {
	if len(w.line) > 0 && w.line[len(w.line)-1] != ' ' {
		w.line = append(w.line, ' ')
	}
}

func (w *pageText) endLine() {
	if line := bytes.TrimRight(w.line, " "); len(line) > 0 {
		w.out.Write(line)
		w.out.WriteByte('\n')
	}
	w.line = w.line[:0]
}

// declared is how a page says its encoding.
var declared = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<meta[^>]+charset\s*=\s*["']?([-_a-z0-9]+)`)
})

// asUTF8 returns a page in UTF-8. One that is neither that nor begins with a mark is in Windows-1252, as browsers take it
// and the standard says, unless it names another encoding.
func asUTF8(page []byte) ([]byte, error) {
	plain, _ := bom.Text(page)
	if utf8.Valid(plain) {
		return plain, nil
	}
	if m := declared().FindSubmatch(page[:min(len(page), 4096)]); m != nil {
		switch name := strings.ToLower(string(m[1])); name {
		case "utf-8", "utf8":
			return bytes.ToValidUTF8(page, []byte("\uFFFD")), nil
		case "iso-8859-1", "latin1", "windows-1252", "us-ascii", "ascii":
		default:
			return nil, fmt.Errorf("the page is in %s, which is not read: turn it into UTF-8 first", name)
		}
	}
	text := make([]byte, 0, len(page)+len(page)/8)
	for _, c := range page {
		r := rune(c)
		if c >= 0x80 && c < 0xa0 {
			r = windows1252[c-0x80]
		}
		text = utf8.AppendRune(text, r)
	}
	return text, nil
}

// windows1252 are the characters from 0x80 on, of which five are none; all others are those of Unicode. The table of golang.org/x/text comes with
// those of all other encodings.
var windows1252 = [32]rune([]rune("€\uFFFD‚ƒ„…†‡ˆ‰Š‹Œ\uFFFDŽ\uFFFD\uFFFD‘’“”•–—˜™š›œ\uFFFDžŸ"))
