package wire

import (
	"encoding/json"
	"reflect"
)

// Types has the zero value of each type of an interface, by the text that tells the type apart.
type Types[T any] map[string]T

const (
	// Other is the row of values from a later version of the server.
	Other = "any other value"
	// Binary is the row of binary frames.
	Binary = "a binary frame"
)

// ByTag returns a function that finds the type of a value by the text of a field.
func ByTag[T any](tag string, types Types[T]) func(data []byte) (T, error) {
	return func(data []byte) (T, error) { return types.decode(Tag(data, tag), data) }
}

// ByKind returns a function that finds the type of a value by the kind of its JSON.
func ByKind[T any](types Types[T]) func(data []byte) (T, error) {
	return func(data []byte) (T, error) { return types.decode(string(KindOf(data)), data) }
}

// ByEvent returns a function that finds the type of data by the name of the event.
func ByEvent[T any](types Types[T]) func(event string, data []byte) (T, error) { return types.decode }

// ByFrame returns a function that finds the type of a frame by the text of a field.
func ByFrame[T any](tag string, types Types[T]) func(data []byte, isBinary bool) (T, error) {
	return func(data []byte, isBinary bool) (T, error) {
		if isBinary {
			return types.raw(Binary, data), nil
		}
		return types.decode(Tag(data, tag), data)
	}
}

func (t Types[T]) decode(text string, data []byte) (T, error) {
	zero, isKnown := t[text]
	if !isKnown || text == Other || text == Binary {
		return t.raw(Other, data), nil
	}
	value := reflect.New(reflect.TypeOf(zero))
	err := json.Unmarshal(data, value.Interface())
	return value.Elem().Interface().(T), err
}

// raw returns a value that holds the bytes: the bytes of a binary frame, or a struct with a field for JSON.
func (t Types[T]) raw(row string, data []byte) T {
	zero, isKnown := t[row]
	if !isKnown {
		zero = t[Other]
	}
	value := reflect.New(reflect.TypeOf(zero)).Elem()
	if value.Kind() == reflect.Struct {
		value.Field(0).SetBytes(data)
	} else {
		value.SetBytes(data)
	}
	return value.Interface().(T)
}
