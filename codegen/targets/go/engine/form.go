package parley

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"

	"parley/internal/wire"
)

// formBody is a multipart body. Its sections are the parts' heads and contents, in the order of the contract.
type formBody struct {
	sections []Body
	boundary string
}

// formOf returns the body of a form. Its parts are the fields of a struct with tags `part`, in their order.
func formOf(form any) Body {
	parts, err := wire.Parts(form)
	if err != nil {
		return memoryBody{err: err}
	}
	var head bytes.Buffer
	writer := multipart.NewWriter(&head)
	body := formBody{boundary: writer.Boundary()}
	for _, part := range parts {
		_, _ = writer.CreatePart(partHeader(part))
		body.sections = append(body.sections, memoryBody{data: bytes.Clone(head.Bytes())}, contentOf(part))
		head.Reset()
	}
	_ = writer.Close()
	body.sections = append(body.sections, memoryBody{data: head.Bytes()})
	return body
}

func partHeader(part wire.Part) textproto.MIMEHeader {
	disposition := fmt.Sprintf("form-data; name=%q", part.Name)
	if part.Reader != nil {
		disposition += `; filename="audio"`
	}
	header := textproto.MIMEHeader{"Content-Disposition": {disposition}}
	if part.Type != "" {
		header.Set("Content-Type", part.Type)
	}
	return header
}

func contentOf(part wire.Part) Body {
	if part.Reader != nil {
		return newReaderBody(part.Reader)
	}
	return memoryBody{data: part.Data}
}

func (b formBody) open() (io.ReadCloser, error) {
	var form openForm
	readers := make([]io.Reader, len(b.sections))
	for index, section := range b.sections {
		opened, err := section.open()
		form.opened, readers[index] = append(form.opened, opened), opened
		if err != nil {
			return &form, err
		}
	}
	form.Reader = io.MultiReader(readers...)
	return &form, nil
}

func (b formBody) contentType() string { return "multipart/form-data; boundary=" + b.boundary }

func (b formBody) length() int64 {
	var sum int64
	for _, section := range b.sections {
		length := section.length()
		if length < 0 {
			return -1
		}
		sum += length
	}
	return sum
}

func (b formBody) isRepeatable() bool {
	for _, section := range b.sections {
		if !section.isRepeatable() {
			return false
		}
	}
	return true
}

type openForm struct {
	io.Reader
	opened []io.ReadCloser
}

func (f *openForm) Close() error {
	var failures []error
	for _, opened := range f.opened {
		failures = append(failures, opened.Close())
	}
	return errors.Join(failures...)
}
