package corpus

import (
	"bytes"
	"errors"

	"github.com/klauspost/compress/zstd"
)

// zstdFrames takes the frames of a zstd file as units. Where a frame ends is found
// by walking the headers of its blocks (RFC 8878, section 3.1.1):
//
//	magic 4 │ frame header 2–14 │ { block header 3 │ block }… │ [checksum 4]
type zstdFrames struct{}

const (
	zstdBlockMax  = 128 << 10
	zstdHeaderMax = 18
)

func (zstdFrames) look(data []byte) (frame, error) {
	var h zstd.Header
	if err := h.Decode(data); err != nil {
		if len(data) < zstdHeaderMax {
			return frame{length: zstdHeaderMax}, nil
		}
		return frame{}, errSerial
	}
	if h.Skippable {
		return frame{length: int64(h.HeaderSize) + int64(h.SkippableSize), skip: true}, nil
	}
	if h.DictionaryID != 0 || h.HasFCS && h.FrameContentSize > maxUnit || h.WindowSize > maxZstdWindow {
		return frame{}, errSerial
	}
	decoded := 0
	for p := h.HeaderSize; ; {
		if p+3 > len(data) {
			return frame{length: int64(p) + 3}, nil
		}
		block := int(data[p]) | int(data[p+1])<<8 | int(data[p+2])<<16
		last, kind, size := block&1 != 0, block>>1&3, block>>3
		stored := size
		switch kind {
		case 1: // one byte, repeated
			stored = 1
		case 2: // compressed
			size = zstdBlockMax
		case 3: // reserved
			return frame{}, errSerial
		}
		if decoded += size; decoded > maxUnit && !h.HasFCS || stored > zstdBlockMax {
			return frame{}, errSerial
		}
		p += 3 + stored
		if last {
			if h.HasFCS {
				decoded = int(h.FrameContentSize)
			}
			if h.HasCheckSum {
				p += 4
			}
			return frame{length: int64(p), decoded: decoded}, nil
		}
	}
}

func (zstdFrames) decode(dst, unit []byte) ([]byte, error) {
	d, err := getZstd()
	if err != nil {
		return dst, err
	}
	defer d.release()
	out, err := d.DecodeAll(unit, dst)
	if err != nil {
		return dst, err
	}
	return out, nil
}

// salvage decodes a damaged frame as a stream, which gives what stands before
// the damage. But if only the check sum is wrong, the damage may be anywhere.
func (zstdFrames) salvage(dst, unit []byte, damage error) ([]byte, error) {
	if errors.Is(damage, zstd.ErrCRCMismatch) {
		return dst, damage
	}
	d, err := getZstd()
	if err != nil {
		return dst, err
	}
	defer d.release()
	if err := d.Reset(bytes.NewReader(unit)); err != nil {
		return dst, err
	}
	out, err := readOn(dst, d)
	if err == nil {
		err = damage
	}
	return out, err
}
