package wire

import (
	"bytes"
	"encoding/json"
)

// Kind is the kind of a JSON value.
type Kind string

// The kinds of JSON values.
const (
	String Kind = "string"
	Number Kind = "number"
	Bool   Kind = "boolean"
	Object Kind = "object"
	Array  Kind = "array"
	Null   Kind = "null"
)

// KindOf returns the kind of a JSON text.
func KindOf(data []byte) Kind {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return Null
	}
	switch data[0] {
	case '"':
		return String
	case '{':
		return Object
	case '[':
		return Array
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Tag returns the text of a field that tells the types of a union apart.
func Tag(data []byte, name string) string {
	var fields map[string]json.RawMessage
	var tag string
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(fields[name], &tag) != nil {
		return ""
	}
	return tag
}

// Decode reads a value from JSON.
func Decode[T any](data []byte) (T, error) {
	var value T
	err := json.Unmarshal(data, &value)
	return value, err
}

// DecodeOne reads a value that can be null or absent.
func DecodeOne[T any](data json.RawMessage, decode func([]byte) (T, error)) (T, error) {
	if KindOf(data) == Null {
		var none T
		return none, nil
	}
	return decode(data)
}

// DecodeList reads a list from its items.
func DecodeList[T any](items []json.RawMessage, decode func([]byte) (T, error)) ([]T, error) {
	if items == nil {
		return nil, nil
	}
	list := make([]T, len(items))
	for index, item := range items {
		value, err := DecodeOne(item, decode)
		if err != nil {
			return nil, err
		}
		list[index] = value
	}
	return list, nil
}

// DecodeMap reads a map from its values.
func DecodeMap[T any](values map[string]json.RawMessage, decode func([]byte) (T, error)) (map[string]T, error) {
	if values == nil {
		return nil, nil
	}
	decoded := make(map[string]T, len(values))
	for name, value := range values {
		var err error
		if decoded[name], err = DecodeOne(value, decode); err != nil {
			return nil, err
		}
	}
	return decoded, nil
}

// Constant returns the JSON of a text that is always the same. The zero value is sent as that text.
func Constant[T ~string](received, constant T) ([]byte, error) {
	if received == "" {
		return json.Marshal(string(constant))
	}
	return json.Marshal(string(received))
}
