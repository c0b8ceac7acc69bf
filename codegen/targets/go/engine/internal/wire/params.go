// Package wire turns Go values into the contract's requests, and answers into Go values. Only the generated packages
// and the engine use it.
package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf16"
)

// Params returns the query and the headers of a struct with tags such as `query:"limit"` and `header:"x-options,json"`.
// Fields with a zero value are left out, unless the tag says `required`.
func Params(params any) (url.Values, http.Header, error) {
	query, header := url.Values{}, http.Header{}
	for _, field := range taggedFields(params, "query") {
		for _, text := range textsOf(field.value) {
			query.Add(field.name, text)
		}
	}
	for _, field := range taggedFields(params, "header") {
		text, err := headerText(field)
		if err != nil {
			return nil, nil, err
		}
		header.Set(field.name, text)
	}
	return query, header, nil
}

func headerText(field taggedField) (string, error) {
	if !field.isJSON {
		return strings.Join(textsOf(field.value), ", "), nil
	}
	text, err := json.Marshal(field.value.Interface())
	return ascii(text), err
}

// ascii escapes all characters that a header may not hold.
func ascii(text []byte) string {
	var escaped strings.Builder
	for _, unit := range utf16.Encode([]rune(string(text))) {
		if unit < 0x7f {
			escaped.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&escaped, `\u%04x`, unit)
		}
	}
	return escaped.String()
}

// Part is one part of a form. Reader is nil if the part is in Data.
type Part struct {
	Name, Type string
	Data       []byte
	Reader     io.Reader
}

// Parts returns the parts of a struct with tags such as `part:"request,json,required"`, in the order of the fields.
func Parts(form any) ([]Part, error) {
	var parts []Part
	for _, field := range taggedFields(form, "part") {
		if field.value.Kind() == reflect.Interface && field.value.IsNil() {
			return nil, fmt.Errorf("parley: the part %s is nil", field.name)
		}
		if reader, isReader := field.value.Interface().(io.Reader); isReader {
			parts = append(parts, Part{field.name, "application/octet-stream", nil, reader})
			continue
		}
		if !field.isJSON {
			for _, text := range textsOf(field.value) {
				parts = append(parts, Part{Name: field.name, Data: []byte(text)})
			}
			continue
		}
		data, err := json.Marshal(field.value.Interface())
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{field.name, "application/json", data, nil})
	}
	return parts, nil
}

type taggedField struct {
	name   string
	isJSON bool
	value  reflect.Value
}

func taggedFields(holder any, tag string) []taggedField {
	var fields []taggedField
	value := reflect.Indirect(reflect.ValueOf(holder))
	for index := 0; value.IsValid() && index < value.NumField(); index++ {
		name, options, _ := strings.Cut(value.Type().Field(index).Tag.Get(tag), ",")
		isRequired := strings.Contains(options, "required")
		if field := value.Field(index); name != "" && (isRequired || !field.IsZero()) {
			fields = append(fields, taggedField{name, strings.Contains(options, "json"), field})
		}
	}
	return fields
}

func textsOf(value reflect.Value) []string {
	switch value.Kind() {
	case reflect.Pointer:
		return textsOf(value.Elem())
	case reflect.Slice:
		var texts []string
		for index := range value.Len() {
			texts = append(texts, textsOf(value.Index(index))...)
		}
		return texts
	}
	if text, isText := value.Interface().(interface{ MarshalText() ([]byte, error) }); isText {
		marshalled, err := text.MarshalText()
		if err == nil {
			return []string{string(marshalled)}
		}
	}
	return []string{fmt.Sprint(value.Interface())}
}
