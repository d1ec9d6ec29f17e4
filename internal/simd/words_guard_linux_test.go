package simd

import (
	"math/rand/v2"
	"syscall"
	"testing"
)

// guarded returns a page of memory between two that fault when touched.
func guarded(t *testing.T) []byte {
	page := syscall.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	for _, p := range [][]byte{m[:page], m[2*page:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Skip(err)
		}
	}
	return m[page : 2*page]
}

func TestNothingOutsideTheTextIsRead(t *testing.T) {
	mem, classes := guarded(t), plainClasses()
	copy(mem, prose(rand.New(rand.NewPCG(5, 5)), len(mem)))
	for n := range len(mem) + 1 {
		if n > 400 && n%61 != 0 {
			continue
		}
		checkWords(t, mem[:n])
		checkWords(t, mem[len(mem)-n:])
		checkCuts(t, classes, mem[:n])
		checkCuts(t, classes, mem[len(mem)-n:])
	}
	for i := range mem {
		mem[i] = 'a' // one word
	}
	for n := range 400 {
		checkWords(t, mem[:n])
		checkWords(t, mem[len(mem)-n:])
	}
}
