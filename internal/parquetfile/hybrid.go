package parquetfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// Levels, dictionary indexes and booleans are runs of equal values and groups
// of eight values packed at a common width of bits, least significant first:
//
//	run    uvarint(count << 1), value in ⌈width/8⌉ bytes
//	packed uvarint(groups << 1 | 1), groups × width bytes

var errHybrid = fmt.Errorf("%w: malformed run", ErrCorrupt)

// widthOf returns the number of bits of values up to most.
func widthOf(most int) int { return bits.Len(uint(most)) }

// decodeHybrid fills dst with the values of src, width bits each. It ignores bytes that follow
// them.
func decodeHybrid[T uint8 | uint32](dst []T, src []byte, width int) error {
	for len(dst) > 0 {
		head, n := binary.Uvarint(src)
		if n <= 0 || head>>1 > math.MaxInt32 {
			return errHybrid
		}
		src = src[n:]
		count := int(head >> 1)
		if head&1 == 0 {
			size := (width + 7) / 8
			if len(src) < size {
				return errHybrid
			}
			value := uint64(0)
			for i, b := range src[:size] {
				value |= uint64(b) << (8 * i)
			}
			if width == 1 && value == 0xff { // parquet-go writes all eight bits of a run of true
				value = 1
			}
			if value>>width != 0 {
				return errHybrid
			}
			src = src[size:]
			count = min(count, len(dst))
			run := dst[:count]
			for i := range run {
				run[i] = T(value)
			}
			dst = dst[count:]
			continue
		}
		size, last := min(count*width, len(src)), count <= (len(dst)+7)/8
		lacks := size < count*width
		count = min(8*count, len(dst))
		if count*width > 8*size || lacks && !last { // the last group may lack its padding
			return errHybrid
		}
		unpack(dst[:count], src[:size], width)
		src, dst = src[size:], dst[count:]
	}
	return nil
}

// unpack fills dst from bits. src has at least as many.
func unpack[T uint8 | uint32](dst []T, src []byte, width int) {
	mask := uint64(1)<<width - 1
	at, i := 0, 0
	for ; i < len(dst) && at>>3+8 <= len(src); i++ {
		dst[i] = T(binary.LittleEndian.Uint64(src[at>>3:]) >> (at & 7) & mask)
		at += width
	}
	if i == len(dst) {
		return
	}
	var tail [16]byte
	copy(tail[:], src[at>>3:])
	for base := at &^ 7; i < len(dst); i++ {
		dst[i] = T(binary.LittleEndian.Uint64(tail[(at-base)>>3:]) >> (at & 7) & mask)
		at += width
	}
}

// appendHybrid appends values, each below 1<<width: those that repeat eight
// times or more as runs, the others packed.
func appendHybrid[T uint8 | uint32](dst []byte, values []T, width int) []byte {
	packed := 0 // values[packed:i] are to be packed
	i := 0
	for i < len(values) {
		run := 1
		for i+run < len(values) && values[i+run] == values[i] {
			run++
		}
		if run >= 8 { // the packed values before it must fill their groups
			fill := -(i - packed) & 7
			i += fill
			run -= fill
		}
		if run < 8 {
			i += run
			continue
		}
		dst = appendPacked(dst, values[packed:i], width)
		dst = binary.AppendUvarint(dst, uint64(run)<<1)
		value := uint32(values[i])
		for range (width + 7) / 8 {
			dst = append(dst, byte(value))
			value >>= 8
		}
		i += run
		packed = i
	}
	return appendPacked(dst, values[packed:], width)
}

func appendPacked[T uint8 | uint32](dst []byte, values []T, width int) []byte {
	if len(values) == 0 {
		return dst
	}
	groups := (len(values) + 7) / 8
	dst = binary.AppendUvarint(dst, uint64(groups)<<1|1)
	end := len(dst) + groups*width
	acc, have := uint64(0), 0
	for _, v := range values {
		acc |= uint64(v) << have
		for have += width; have >= 8; have -= 8 {
			dst = append(dst, byte(acc))
			acc >>= 8
		}
	}
	if have > 0 {
		dst = append(dst, byte(acc))
	}
	for len(dst) < end {
		dst = append(dst, 0)
	}
	return dst
}
