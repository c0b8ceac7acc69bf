package wire

import (
	"encoding/json"
	"reflect"
	"strings"
)

// MarshalOpen returns the JSON of an object with further fields. A field that the struct names wins.
func MarshalOpen[T any](object any, extra map[string]T) ([]byte, error) {
	value := reflect.ValueOf(object)
	known, err := json.Marshal(value.Convert(withoutMethods(value.Type())).Interface())
	if err != nil || len(extra) == 0 {
		return known, err
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal(known, &named); err != nil {
		return nil, err
	}
	fields := make(map[string]any, len(extra)+len(named))
	for name, value := range extra {
		fields[name] = value
	}
	for name, value := range named {
		fields[name] = value
	}
	return json.Marshal(fields)
}

// UnmarshalOpen reads an object, and keeps the fields that the struct does not name.
func UnmarshalOpen[T any](data []byte, object any, extra *map[string]T) error {
	pointer := reflect.ValueOf(object)
	plain := pointer.Convert(reflect.PointerTo(withoutMethods(pointer.Type().Elem())))
	if err := json.Unmarshal(data, plain.Interface()); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	for _, field := range reflect.VisibleFields(pointer.Type().Elem()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		delete(all, name)
	}
	var err error
	*extra, err = DecodeMap(all, Decode[T])
	return err
}

// withoutMethods returns the struct's type without its methods, so that encoding/json does not call them again.
func withoutMethods(object reflect.Type) reflect.Type {
	fields := reflect.VisibleFields(object)
	return reflect.StructOf(fields)
}
