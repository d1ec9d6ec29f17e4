package codec

import (
	"compress/gzip"
	"io"

	"github.com/alike-dev/alike/internal/inflate"
)

// gzipReader is a decoder that knows what may follow the last member.
type gzipReader struct {
	*inflate.Reader
	after error // what follows the last member; nil: not known
}

func newGzip(r io.Reader) (Reader, error) {
	d, err := inflate.NewReader(r)
	if err != nil {
		return nil, err
	}
	return &gzipReader{Reader: d}, nil
}

func (d *gzipReader) Read(p []byte) (int, error) {
	if d.after != nil {
		return 0, d.after
	}
	n, err := d.Reader.Read(p)
	if err == gzip.ErrHeader || err == io.ErrUnexpectedEOF {
		if rest := d.Behind(); rest != nil {
			d.after = After(Gzip, rest, err)
			err = d.after
		}
	}
	return n, err
}
