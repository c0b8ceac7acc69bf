package parley

import (
	"io"
	"net/http"
)

// Request is the call of an operation. The methods return a changed copy.
type Request struct {
	method, path string
	params       any
	body         Body
	accept       string
	isIdempotent bool
	isPublic     bool
	identity     map[string]string
	lastEventID  string
}

// Get returns a request with the method GET.
func Get(path string) Request { return Request{method: http.MethodGet, path: path} }

// Post returns a request with the method POST.
func Post(path string) Request { return Request{method: http.MethodPost, path: path} }

// Put returns a request with the method PUT.
func Put(path string) Request { return Request{method: http.MethodPut, path: path} }

// Patch returns a request with the method PATCH.
func Patch(path string) Request { return Request{method: http.MethodPatch, path: path} }

// Delete returns a request with the method DELETE.
func Delete(path string) Request { return Request{method: http.MethodDelete, path: path} }

// Params sets a struct with tags `query` and `header`.
func (r Request) Params(params any) Request {
	r.params = params
	return r
}

// JSON sets a body with the value's JSON. A nil pointer is no body.
func (r Request) JSON(value any) Request {
	r.body = jsonBody(value)
	return r
}

// Form sets a body with the parts of a struct with tags `part`, in their order.
func (r Request) Form(form any) Request {
	r.body = formOf(form)
	return r
}

// Reader sets a body with the reader's bytes. The request is repeated only if the reader can be sought.
func (r Request) Reader(reader io.Reader) Request {
	r.body = newReaderBody(reader)
	return r
}

// Accept sets the media types of the answer.
func (r Request) Accept(mediaTypes string) Request {
	r.accept = mediaTypes
	return r
}

// Idempotent adds an Idempotency-Key, which is new for each attempt.
func (r Request) Idempotent() Request {
	r.isIdempotent = true
	return r
}

// Resumable says that a cut stream can be opened again. The identity has the field of an event's data that tells two
// events apart, by the events' name.
func (r Request) Resumable(identity map[string]string) Request {
	r.identity = identity
	return r
}

// Public leaves the API key out.
func (r Request) Public() Request {
	r.isPublic = true
	return r
}
