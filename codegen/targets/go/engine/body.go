package parley

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"sync"
)

// Body is the body of a request.
type Body interface {
	// open returns the body from its start.
	open() (io.ReadCloser, error)
	contentType() string
	// length is in bytes, or -1 if it is not known.
	length() int64
	isRepeatable() bool
}

// memoryBody is a body that is complete in memory.
type memoryBody struct {
	data []byte
	kind string
	err  error
}

// jsonBody returns a body with the value's JSON, or nil for a nil pointer.
func jsonBody(value any) Body {
	if pointer := reflect.ValueOf(value); pointer.Kind() == reflect.Pointer && pointer.IsNil() {
		return nil
	}
	data, err := json.Marshal(value)
	return memoryBody{data, "application/json", err}
}

func (b memoryBody) open() (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b.data)), b.err
}

func (b memoryBody) contentType() string { return b.kind }

func (b memoryBody) length() int64 { return int64(len(b.data)) }

func (b memoryBody) isRepeatable() bool { return true }

// readerBody is a body that is read while it is sent. Only a body with a seeker can be repeated.
type readerBody struct {
	reader io.Reader
	seeker io.Seeker
	start  int64
	size   int64
	// busy is held while the body is open: net/http may still read from a body after it returned an answer.
	busy *sync.Mutex
}

var errNilReader = errors.New("parley: the reader of the audio is nil")

func newReaderBody(reader io.Reader) Body {
	if value := reflect.ValueOf(reader); !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil() {
		return memoryBody{err: errNilReader}
	}
	body := readerBody{reader: reader, size: -1, busy: &sync.Mutex{}}
	seeker, isSeeker := reader.(io.Seeker)
	if !isSeeker {
		return body
	}
	start, startErr := seeker.Seek(0, io.SeekCurrent)
	end, endErr := seeker.Seek(0, io.SeekEnd)
	if startErr == nil && endErr == nil {
		body.seeker, body.start, body.size = seeker, start, end-start
	}
	return body
}

func (b readerBody) open() (io.ReadCloser, error) {
	b.busy.Lock()
	if b.seeker == nil {
		return &openBody{Reader: b.reader, busy: b.busy}, nil
	}
	_, err := b.seeker.Seek(b.start, io.SeekStart)
	return &openBody{Reader: b.reader, busy: b.busy}, err
}

func (b readerBody) contentType() string { return "application/octet-stream" }

func (b readerBody) length() int64 { return b.size }

func (b readerBody) isRepeatable() bool { return b.seeker != nil }

// openBody leaves the caller's reader open, so that a retry can read it again.
type openBody struct {
	io.Reader
	busy *sync.Mutex
	once sync.Once
}

func (b *openBody) Close() error {
	b.once.Do(b.busy.Unlock)
	return nil
}
