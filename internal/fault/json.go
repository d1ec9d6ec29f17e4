package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Decode decodes the only value of r, and words what is wrong with it by JSON's names, without types of Go. With known
// all fields of objects must be among those of to.
func Decode(r io.Reader, to any, known bool) error {
	d := json.NewDecoder(r)
	if known {
		d.DisallowUnknownFields()
	}
	err := d.Decode(to)
	if err == nil {
		if _, after := d.Token(); after != io.EOF {
			return errors.New("something comes after it")
		}
		return nil
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	unknown, isUnknown := strings.CutPrefix(err.Error(), "json: unknown field ")
	switch {
	case err == io.EOF:
		return errors.New("it is empty")
	case err == io.ErrUnexpectedEOF:
		return errors.New("it ends too soon")
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON: %w", err)
	case isUnknown:
		return fmt.Errorf("it has a field %s, which is not known", unknown)
	case !errors.As(err, &kind):
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if kind.Field == "" {
		return errors.New("it " + Mistyped(kind))
	}
	return errors.New(Shown(kind.Field) + " " + Mistyped(kind))
}

// Mistyped says what is wrong with a value, after its name.
func Mistyped(of *json.UnmarshalTypeError) string {
	value, digits, isNumber := strings.Cut(of.Value, " ")
	if isNumber {
		return fmt.Sprintf("is %s: take %s, not too large", digits, valueName(of.Type))
	}
	return fmt.Sprintf("is %s, not %s", valueNames[value], valueName(of.Type))
}

// valueNames name the values that package json cannot decode, by what it calls them.
var valueNames = map[string]string{"string": "a string", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}

// valueName names the values of JSON that a type of Go takes.
func valueName(t reflect.Type) string {
	switch kind := t.Kind(); {
	case kind == reflect.Bool:
		return valueNames["bool"]
	case kind == reflect.String:
		return valueNames["string"]
	case kind >= reflect.Int && kind <= reflect.Uint64:
		return "a whole number"
	case kind == reflect.Float32 || kind == reflect.Float64:
		return valueNames["number"]
	case kind == reflect.Slice || kind == reflect.Array:
		return valueNames["array"]
	}
	return valueNames["object"]
}
