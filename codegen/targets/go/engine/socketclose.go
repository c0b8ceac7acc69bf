package parley

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"parley/internal/wire"

	"github.com/coder/websocket"
)

// closedError takes the error code from the last error frame, or else from the close's reason.
func closedError(err error, sent errorFrame, retryableCodes map[string]bool) *SocketClosedError {
	closed := websocket.CloseError{Code: websocket.StatusAbnormalClosure}
	_ = errors.As(err, &closed)
	if _, isClosing := retryableCodes[sent.Code]; !isClosing && sent.Code != closed.Reason {
		sent = errorFrame{}
	}
	code := sent.Code
	if _, isClosing := retryableCodes[closed.Reason]; code == "" && isClosing {
		code = closed.Reason
	}
	retryable, isKnown := retryableCodes[code]
	if !isKnown {
		retryable = slices.Contains(retryableCloses, closed.Code)
	}
	if code != "" && sent.Retryable != nil {
		retryable = *sent.Retryable
	}
	return &SocketClosedError{int(closed.Code), closed.Reason, code, retryable, err}
}

// retryableCloses are the codes without an error code that permit a new socket: the connection was lost, the server
// restarts, or the server has too much work.
var retryableCloses = []websocket.StatusCode{
	websocket.StatusAbnormalClosure, websocket.StatusServiceRestart, websocket.StatusTryAgainLater,
}

// errorFrame has the fields of an error frame. The channel that is compatible with OpenAI nests the fields in `error`.
type errorFrame struct {
	Code      string
	Retryable *bool
}

// take keeps the frame's error. An error that is not fatal leaves the socket open.
func (f *errorFrame) take(data []byte) error {
	var frame struct {
		Type  json.RawMessage
		Fatal *bool
		errorFrame
		Error json.RawMessage
	}
	if wire.KindOf(data) != wire.Object || !json.Valid(data) {
		return &ProtocolError{Message: "a frame is not a JSON object"}
	}
	if !bytes.Contains(data, []byte(`"error"`)) || json.Unmarshal(data, &frame) != nil || string(frame.Type) != `"error"` {
		return nil
	}
	if frame.Fatal == nil || *frame.Fatal {
		*f = frame.errorFrame
		_ = json.Unmarshal(frame.Error, f)
	}
	return nil
}
