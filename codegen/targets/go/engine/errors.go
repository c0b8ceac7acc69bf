package parley

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"parley/internal/wire"
)

// ErrTimeout is the error of a request that the server did not answer in time. The server may have processed the
// request, so the client does not repeat it.
var ErrTimeout = errors.New("parley: the server did not answer in time")

const errorBytesMax = 1 << 20

// APIError is any answer other than 2xx.
type APIError struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// Code is for programs. It is empty if something between client and server made the answer.
	Code string
	// Type groups the codes, such as rate_limit_error.
	Type string
	// Message is a sentence for people. Hint says what to do.
	Message, Hint string
	// Retryable is true if the same request may succeed when it is sent again.
	Retryable bool
	// RequestID is the request's id in the server's log.
	RequestID string
	Header    http.Header
	// Body has all fields of the answer, at most 1 MiB.
	Body []byte
}

func (e *APIError) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("parley: the server answered %d", e.StatusCode)
	}
	return strings.TrimSpace(fmt.Sprintf("parley: %d %s: %s %s", e.StatusCode, e.Code, e.Message, e.Hint))
}

// ConnectionError says that the client has no connection to the server, or that the connection ended before an answer.
type ConnectionError struct {
	// Sent is true if the request may have reached the server. Then the client does not repeat it.
	Sent bool
	Err  error
}

func (e *ConnectionError) Error() string { return "parley: no answer: " + e.Err.Error() }

func (e *ConnectionError) Unwrap() error { return e.Err }

// ProtocolError says that an answer is not as the contract says, such as a page of HTML from a proxy.
type ProtocolError struct {
	Message string
	Err     error
}

func (e *ProtocolError) Error() string { return "parley: " + e.Message }

func (e *ProtocolError) Unwrap() error { return e.Err }

// StreamCutError says that a stream or audio ended before its end: the answer is incomplete.
type StreamCutError struct {
	Err error
}

func (e *StreamCutError) Error() string { return "parley: the stream was cut: " + e.Err.Error() }

func (e *StreamCutError) Unwrap() error { return e.Err }

// SocketClosedError says that the server closed a socket with another code than 1000, or that the connection was lost.
type SocketClosedError struct {
	// CloseCode is the WebSocket's close code: 1005 if the server sent no code, 1006 if the connection was lost.
	CloseCode int
	// Reason is the server's text in the close.
	Reason string
	// Code is the error code, for programs. It is empty if the server sent no error.
	Code string
	// Retryable is true if a new socket with the same settings may succeed.
	Retryable bool
	Err       error
}

func (e *SocketClosedError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("parley: the socket closed with %d %s", e.CloseCode, e.Code))
}

func (e *SocketClosedError) Unwrap() error { return e.Err }

// ErrorRow has what the contract says about an error code. The generated packages have a table of rows.
type ErrorRow struct {
	Type      string
	Retryable bool
}

// errorBody has the fields of the surfaces' two kinds of error bodies.
type errorBody struct {
	Code         string `json:"code"`
	Type         string `json:"type"`
	Message      string `json:"message"`
	Hint         string `json:"hint"`
	Retryable    *bool  `json:"retryable"`
	RequestID    string `json:"request_id"`
	RequestIDOld string `json:"requestId"`
}

func (s Surface) readError(response *http.Response) *APIError {
	body, _ := io.ReadAll(io.LimitReader(response.Body, errorBytesMax))
	return s.toError(response, body)
}

func (s Surface) toError(response *http.Response, body []byte) *APIError {
	failure := &APIError{StatusCode: response.StatusCode, Header: response.Header, Body: body}
	failure.RequestID = response.Header.Get(s.client.headerName("Service-Request-ID"))
	fields := readErrorBody(body)
	row, known := ErrorRow{}, false
	if s.ErrorRows != nil {
		row, known = s.ErrorRows(fields.Code)
	}
	failure.Code, failure.Message, failure.Hint = fields.Code, fields.Message, fields.Hint
	failure.Type, failure.Retryable = fields.Type, known && row.Retryable
	if failure.Type == "" {
		failure.Type = row.Type
	}
	if fields.Retryable != nil {
		failure.Retryable = *fields.Retryable
	}
	if failure.RequestID == "" {
		failure.RequestID = fields.RequestID + fields.RequestIDOld
	}
	return failure
}

// readErrorBody reads {"error": {"code", "message", …}} and {"error": "message", "code", …}.
func readErrorBody(body []byte) errorBody {
	var outer struct {
		errorBody
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return errorBody{}
	}
	fields := outer.errorBody
	if wire.KindOf(outer.Error) == wire.Object {
		_ = json.Unmarshal(outer.Error, &fields)
	} else {
		_ = json.Unmarshal(outer.Error, &fields.Message)
	}
	return fields
}
