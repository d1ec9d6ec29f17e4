package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// machine is an instruction set. Operands are in the order of Go's assembler: the destination is
// last.
type machine struct {
	name      string
	laneBits  uint // logarithm of the number of 64-bit lanes of a vector
	vector    func() reg.VecVirtual
	load      func(from Op, v reg.VecVirtual)
	store     func(v reg.VecVirtual, to Op)
	broadcast func(r reg.GPVirtual, v reg.VecVirtual)
	xor, and  func(x Op, y, z reg.VecVirtual)
	add       func(x Op, y, z reg.VecVirtual)
	// addWord adds a word of memory to each lane of y.
	addWord    func(word Mem, y, z reg.VecVirtual)
	shiftRight func(n uint64, x, y reg.VecVirtual)
	// multiply multiplies each lane of x by a constant.
	multiply func(by uint64, x reg.VecVirtual)
	// fullAdd adds x and y to plane and leaves the carry in y.
	fullAdd func(plane, x, y reg.VecVirtual)
	// above replaces borrow by the majority of borrow, plane and ¬bit.
	above func(bit, plane, borrow reg.VecVirtual)
	// first returns a function that clears all lanes but the first count.
	first func(count reg.GPVirtual) func(v reg.VecVirtual)
	// loadFirst loads the first lanes, as many as first was given, and reads no memory behind them.
	loadFirst func(from Mem, v reg.VecVirtual)
	// exchanges move to each lane the lanes that are added to it, one after the other.
	exchanges []func(x, y reg.VecVirtual)
}

func (m *machine) lanes() int { return 1 << m.laneBits }

func (m *machine) zero() reg.VecVirtual {
	v := m.vector()
	m.xor(v, v, v)
	return v
}

func (m *machine) memory(at reg.GPVirtual) reg.VecVirtual {
	v := m.vector()
	m.load(Mem{Base: at}, v)
	return v
}

func (m *machine) param(name string) reg.VecVirtual {
	v := m.vector()
	m.broadcast(gp(name), v)
	return v
}

// mix replaces the words of x by their hashing.Mix.
func (m *machine) mix(x reg.VecVirtual) {
	t := m.vector()
	m.shiftRight(30, x, t)
	m.xor(t, x, x)
	m.multiply(0xbf58476d1ce4e5b9, x)
	m.shiftRight(27, x, t)
	m.xor(t, x, x)
	m.multiply(0x94d049bb133111eb, x)
	m.shiftRight(31, x, t)
	m.xor(t, x, x)
}

// halfAdd adds c to planes, the last of which produces no carry.
func (m *machine) halfAdd(c reg.VecVirtual, planes ...reg.VecVirtual) {
	for i, p := range planes {
		if i == len(planes)-1 {
			m.xor(c, p, p)
			return
		}
		next := m.vector()
		m.and(c, p, next)
		m.xor(c, p, p)
		c = next
	}
}

// spread returns a vector of ones if the lowest bit of r is one, otherwise of zeros, and shifts r
// by one bit.
func (m *machine) spread(r reg.GPVirtual) reg.VecVirtual {
	bit, v := GP64(), m.vector()
	MOVQ(r, bit)
	ANDQ(Imm(1), bit)
	NEGQ(bit)
	m.broadcast(bit, v)
	SHRQ(Imm(1), r)
	return v
}

func gp(param string) reg.GPVirtual { return Load(Param(param), GP64()).(reg.GPVirtual) }

// constants are words of constant memory by name; each is defined once.
var constants = map[string]Mem{}

// constant returns constant memory of the given number of words.
func constant(name string, words int, word func(i int) uint64) Mem {
	if m, ok := constants[name]; ok {
		return m
	}
	m := GLOBL(name, RODATA|NOPTR)
	for i := range words {
		DATA(8*i, U64(word(i)))
	}
	constants[name] = m
	return m
}
