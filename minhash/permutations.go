package minhash

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Permutations returns the scheme of the family [PlainXOR] with given numbers, 1 to 65535
// of them: the first of its len(numbers)+1 permutations leaves features unchanged, the
// others are x ⊕ numbers[i]. Components have 1, 2, 4, 8, 16 or 32 bits. It gives the
// results of programs that publish their numbers. The line of such a scheme names the
// numbers by a hash and cannot be parsed back.
func Permutations(numbers []uint64, bits int) (Scheme, error) {
	if len(numbers) == 0 {
		return Scheme{}, fmt.Errorf("minhash: no numbers for the permutations: give at least one")
	}
	s, err := newScheme(methodPlainXOR, len(numbers)+1, bits, 0)
	if err != nil {
		return s, err
	}
	var packed []byte
	for _, n := range numbers {
		packed = binary.LittleEndian.AppendUint64(packed, n)
	}
	s.numbers = string(packed)
	return s, nil
}

// ReadNumbers reads numbers for [Permutations]: one 64-bit number a line, decimal or with
// 0x hexadecimal. Empty lines, and those that begin with #, are skipped. At most 65535
// numbers are read; the error of a bad line gives its number.
func ReadNumbers(r io.Reader) ([]uint64, error) {
	var numbers []uint64
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		number, err := strconv.ParseUint(line, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("minhash: line %d is %.40q: want one whole number from 0 to 2^64-1", n, line)
		}
		if numbers = append(numbers, number); len(numbers) == MaxK {
			return nil, fmt.Errorf("minhash: line %d is one number too many: take at most %d", n, MaxK-1)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("minhash: reading numbers: %w", err)
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("minhash: there are no numbers: want one a line")
	}
	return numbers, nil
}
