package codec

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/mikelolasagasti/xz"

	"github.com/alike-dev/alike/internal/fault"
)

// MaxXzDictionary is the most memory that an xz stream may ask for, twice that of xz -9.
const MaxXzDictionary = 128 << 20

// xzDecoder is a pooled decoder. It keeps its dictionary.
type xzDecoder struct{ *xz.Reader }

func (d *xzDecoder) Read(p []byte) (int, error) {
	n, err := d.Reader.Read(p)
	if err == xz.ErrBuf {
		err = errXzEnd
	}
	return n, err
}

var errXzEnd = fault.Because(fault.ErrTruncated, "the data end too early")

var xzPool sync.Pool

// getXz begins to decode r.
func getXz(r io.Reader) (*xzDecoder, error) {
	d, _ := xzPool.Get().(*xzDecoder)
	if d == nil {
		x, err := xz.NewReader(nil, MaxXzDictionary)
		if err != nil {
			return nil, err
		}
		d = &xzDecoder{x}
	}
	if err := d.Reset(r); err != nil {
		d.Release()
		if errors.Is(err, xz.ErrBuf) {
			err = errXzEnd
		}
		return nil, err
	}
	return d, nil
}

func (d *xzDecoder) Release() {
	_ = d.Reset(bytes.NewReader(nil)) // the error of an empty input is expected
	xzPool.Put(d)
}
