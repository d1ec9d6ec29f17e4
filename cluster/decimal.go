package cluster

import "strconv"

// maxExponent is small enough to add the length of the digits to it.
const maxExponent = 1e18

// decimal is a decimal number of any length: ± 0.d₁d₂d₃… · 10^exponent with d₁ > 0. Keeping
// the digits as text avoids both rounding and the memory that a number like 1e999999 would
// take.
type decimal struct {
	sign     int    // −1, 0 or 1
	exponent int64  // decimal places before the point
	digits   string // begins and ends with a digit above 0; may hold a point
}

// parseDecimal reads [+-]digits[.digits][e[+-]digits], where the digits on one side of
// the point may be missing. It rejects exponents of 10¹⁸ or more.
func parseDecimal(s string) (decimal, bool) {
	d := decimal{sign: 1}
	if s != "" && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			d.sign = -1
		}
		s = s[1:]
	}
	end, point, digits := 0, -1, 0
	first, final := -1, -1 // digits above 0
scan:
	for ; end < len(s); end++ {
		switch c := s[end]; {
		case c == '.' && point < 0:
			point = end
		case c >= '0' && c <= '9':
			digits++
			if c > '0' {
				final = end
				if first < 0 {
					first = end
				}
			}
		default:
			break scan
		}
	}
	if digits == 0 {
		return decimal{}, false
	}
	exponent, ok := parseExponent(s[end:])
	if !ok {
		return decimal{}, false
	}
	if first < 0 {
		return decimal{}, true // zero, whatever its sign
	}
	if point < 0 {
		point = end
	}
	d.exponent = exponent + int64(point-first)
	if first > point {
		d.exponent++ // the point itself is not a digit
	}
	d.digits = s[first : final+1]
	return d, true
}

// parseExponent reads "" or e[+-]digits.
func parseExponent(s string) (int64, bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	exponent, err := strconv.ParseInt(s[1:], 10, 64)
	return exponent, err == nil && -maxExponent < exponent && exponent < maxExponent
}

func (d decimal) compare(e decimal) int {
	if d.sign != e.sign {
		return compareInt(int64(d.sign), int64(e.sign))
	}
	if d.exponent != e.exponent {
		return d.sign * compareInt(d.exponent, e.exponent)
	}
	i, j := 0, 0
	for i < len(d.digits) && j < len(e.digits) {
		if d.digits[i] == '.' {
			i++
			continue
		}
		if e.digits[j] == '.' {
			j++
			continue
		}
		if d.digits[i] != e.digits[j] {
			return d.sign * compareInt(int64(d.digits[i]), int64(e.digits[j]))
		}
		i++
		j++
	}
	// Both end with a digit above 0, so the longer number is the larger one.
	return d.sign * (compareBool(i < len(d.digits), j < len(e.digits)))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
