package dedup

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Expected is a share that is expected: one number that is known, or a range in which it likely is. As JSON it is the
// number, or [low, high].
type Expected struct {
	Low, High float64 // 0 to 1
	Range     bool
}

// Promised returns a share that is known.
func Promised(share float64) Expected { return Expected{Low: share, High: share} }

// Between returns a share that is likely from low to high.
func Between(low, high float64) Expected { return Expected{Low: low, High: high, Range: true} }

// WithoutAll returns the range down to what is left if some of all documents find nothing.
func (e Expected) WithoutAll(some, all int64) Expected {
	if some > 0 {
		e.Low, e.Range = e.Low*float64(max(all-some, 0))/float64(max(all, 1)), true
	}
	return e
}

// String returns a number with four decimals, or two, such as 0.7512–0.9910.
func (e Expected) String() string {
	if e.Range {
		return fmt.Sprintf("%.4f–%.4f", e.Low, e.High)
	}
	return fmt.Sprintf("%.4f", e.Low)
}

// MarshalJSON returns a number or two.
func (e Expected) MarshalJSON() ([]byte, error) {
	if e.Range {
		return json.Marshal([2]float64{e.Low, e.High})
	}
	return json.Marshal(e.Low)
}

// UnmarshalJSON takes what MarshalJSON returns.
func (e *Expected) UnmarshalJSON(text []byte) error {
	var share float64
	if json.Unmarshal(text, &share) == nil {
		*e = Promised(share)
		return nil
	}
	var of []float64
	if err := json.Unmarshal(text, &of); err != nil {
		return err
	}
	if len(of) != 2 {
		return errors.New("an expected share is a number, or the least and the largest")
	}
	*e = Expected{of[0], of[1], true}
	return nil
}
