package parley

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// jsonBytesMax is the longest answer that is not a stream, in bytes.
const jsonBytesMax = 64 << 20

var errLongAnswer = errors.New("the answer is longer than 64 MiB")

// JSON sends a request and reads the answer's JSON.
func JSON[T any](ctx context.Context, surface Surface, request Request, options []CallOption) (T, error) {
	var value T
	request.accept = "application/json"
	body, err := surface.read(ctx, request, options)
	if err != nil {
		return value, err
	}
	if err := json.Unmarshal(body, &value); err != nil {
		return value, &ProtocolError{Message: "the answer is not what the contract says", Err: err}
	}
	return value, nil
}

// Text sends a request and reads the answer's text.
func Text(ctx context.Context, surface Surface, request Request, options []CallOption) (string, error) {
	body, err := surface.read(ctx, request, options)
	return string(body), err
}

// Empty sends a request with an answer that has no body.
func Empty(ctx context.Context, surface Surface, request Request, options []CallOption) error {
	_, err := surface.read(ctx, request, options)
	return err
}

// read returns the whole body of an answer.
func (s Surface) read(ctx context.Context, request Request, options []CallOption) ([]byte, error) {
	answer, err := s.send(ctx, request, s.client.settings(options))
	if err != nil {
		return nil, err
	}
	defer answer.stop()
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, jsonBytesMax+1))
	if err != nil {
		return nil, connectionError(answer.Request.Context(), err)
	}
	if len(body) > jsonBytesMax {
		return nil, &ProtocolError{Message: errLongAnswer.Error()}
	}
	return body, nil
}

// Download is an answer of bytes, such as audio. The reader must close it.
type Download struct {
	// Header has the answer's headers, such as Content-Type.
	Header http.Header
	answer *answer
}

// Bytes sends a request and returns the answer as a stream of bytes.
func Bytes(ctx context.Context, surface Surface, request Request, options []CallOption) (*Download, error) {
	answer, err := surface.send(ctx, request, surface.client.settings(options))
	if err != nil {
		return nil, err
	}
	answer.settle()
	return &Download{Header: answer.Header, answer: answer}, nil
}

// Read reads the next bytes. If the connection is cut before the end, it returns a *StreamCutError.
func (d *Download) Read(buffer []byte) (int, error) {
	count, err := d.answer.Body.Read(buffer)
	if err != nil && err != io.EOF {
		err = cutError(d.answer.Request.Context(), err)
	}
	return count, err
}

// Close ends the download. The server stops if it has not sent all bytes.
func (d *Download) Close() error {
	defer d.answer.stop()
	return d.answer.Body.Close()
}

// cutError returns the caller's reason if the caller ended the request.
func cutError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return &StreamCutError{Err: err}
}
