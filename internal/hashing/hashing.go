// Package hashing holds the two hash functions on which all results of alike depend: Bytes turns a
// token into 64 bits, Mix spreads 64 bits over 64 bits.
//
// Both are part of the text and sketch formats: changing one changes every feature, and with it the
// version in the scheme lines.
package hashing

import (
	"encoding/binary"
	"math/bits"
)

// Keys of the hash functions: odd, no short runs, taken from the fractional
// bits of square roots of primes so that nothing is up the sleeve.
const (
	Key0 uint64 = 0x6a09e667f3bcc909 // sqrt(2)
	Key1 uint64 = 0xbb67ae8584caa73b // sqrt(3)
	Key2 uint64 = 0x3c6ef372fe94f82b // sqrt(5)
	Key3 uint64 = 0xa54ff53a5f1d36f1 // sqrt(7)
)

// Fold multiplies a and b to 128 bits and returns the xor of the halves.
func Fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// Mix is a bijection on 64-bit words in which every input bit changes every
// output bit with probability near one half (the finaliser of MurmurHash3 with
// Stafford's constants, variant 13).
func Mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}

// Bytes hashes a token. Up to 16 bytes cost one multiplication:
//
//	Fold(bytes 0..7 ^ Key0, bytes 8..15 ^ Key1 ^ length<<56)
//
// little endian, missing bytes zero. A longer token first folds 16 bytes a
// step into the two keys and ends with its last 1 to 16 bytes.
func Bytes(b []byte) uint64 {
	k0, k1 := Key0, Key1^uint64(len(b))<<56
	for len(b) > 16 {
		h := Fold(binary.LittleEndian.Uint64(b)^k0, binary.LittleEndian.Uint64(b[8:])^k1)
		k0, k1 = k0^h, k1+h
		b = b[16:]
	}
	lo, hi := halves(b)
	return Fold(lo^k0, hi^k1)
}

// halves loads up to 16 bytes as two little-endian words padded with zeros.
func halves(b []byte) (lo, hi uint64) {
	switch n := len(b); {
	case n >= 8:
		lo = binary.LittleEndian.Uint64(b)
		if n > 8 {
			// The last 8 bytes, shifted so that those already in lo fall off.
			hi = binary.LittleEndian.Uint64(b[n-8:]) >> (8 * (16 - uint(n)))
		}
	case n >= 4:
		lo = uint64(binary.LittleEndian.Uint32(b)) |
			uint64(binary.LittleEndian.Uint32(b[n-4:]))<<(8*uint(n-4))
	case n > 0:
		lo = uint64(b[0]) | uint64(b[n>>1])<<(8*uint(n>>1)) | uint64(b[n-1])<<(8*uint(n-1))
	}
	return lo, hi
}
