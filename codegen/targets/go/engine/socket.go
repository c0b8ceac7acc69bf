package parley

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/coder/websocket"
)

// Channel is a socket's row in the contract.
type Channel struct {
	Address, Subprotocol string
	Query                url.Values
	// Retryable has for each error code whether a new socket may succeed.
	Retryable map[string]bool
}

// Socket is a typed socket. Reading and writing may happen at the same time, but only one loop may read.
type Socket[Sent, Received any] struct {
	connection *websocket.Conn
	retryable  map[string]bool
	decode     func(data []byte, isBinary bool) (Received, error)
	isClosed   atomic.Bool
}

// binaryFrame is a frame that is sent without JSON.
type binaryFrame interface{ BinaryFrame() []byte }

// Open opens a socket.
func Open[Sent, Received any](
	ctx context.Context, client *Client, channel Channel, decode func(data []byte, isBinary bool) (Received, error),
) (*Socket[Sent, Received], error) {
	address := "ws" + strings.TrimPrefix(client.baseURL, "http") + channel.Address
	if len(channel.Query) > 0 {
		address += "?" + channel.Query.Encode()
	}
	header := http.Header{"Authorization": {"Bearer " + client.apiKey}, "User-Agent": {client.userAgent}}
	connection, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: client.http, HTTPHeader: header, Subprotocols: []string{channel.Subprotocol},
	})
	if err != nil {
		return nil, refusal(ctx, client, response, err)
	}
	connection.SetReadLimit(int64(client.eventBytesMax))
	return &Socket[Sent, Received]{connection: connection, retryable: channel.Retryable, decode: decode}, nil
}

// refusal returns the server's error if it answered the request for a socket.
func refusal(ctx context.Context, client *Client, response *http.Response, err error) error {
	if response == nil {
		return connectionError(ctx, err)
	}
	return Surface{}.On(client).readError(response)
}

// Send sends a frame. It waits if the network is slower than the caller.
func (s *Socket[Sent, Received]) Send(ctx context.Context, frame Sent) error {
	if binary, isBinary := any(frame).(binaryFrame); isBinary {
		return s.closeError(ctx, s.connection.Write(ctx, websocket.MessageBinary, binary.BinaryFrame()))
	}
	data, err := json.Marshal(frame)
	if err != nil {
		return err
	}
	return s.closeError(ctx, s.connection.Write(ctx, websocket.MessageText, data))
}

// Frames returns the server's frames until the socket closes. If the server closes with another code than 1000, or the
// connection is lost, the sequence ends with a *SocketClosedError. If the context ends, the socket is closed.
func (s *Socket[Sent, Received]) Frames(ctx context.Context) iter.Seq2[Received, error] {
	return func(yield func(Received, error) bool) {
		for {
			kind, data, err := s.connection.Read(ctx)
			if err != nil {
				var none Received
				if err := s.closeError(ctx, err); err != nil {
					yield(none, err)
				}
				return
			}
			frame, err := s.decode(data, kind == websocket.MessageBinary)
			if !yield(frame, err) {
				return
			}
		}
	}
}

// Close closes the socket with the code 1000.
func (s *Socket[Sent, Received]) Close() error {
	s.isClosed.Store(true)
	return s.closeError(context.Background(), s.connection.Close(websocket.StatusNormalClosure, ""))
}

// closeError returns nil if one side closed the socket with 1000.
func (s *Socket[Sent, Received]) closeError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var closed websocket.CloseError
	if !errors.As(err, &closed) {
		if s.isClosed.Load() {
			return nil
		}
		return &SocketClosedError{CloseCode: int(websocket.StatusAbnormalClosure), Retryable: true, Err: err}
	}
	if closed.Code == websocket.StatusNormalClosure {
		return nil
	}
	failure := &SocketClosedError{CloseCode: int(closed.Code), Err: err}
	if retryable, known := s.retryable[closed.Reason]; known {
		failure.Code, failure.Retryable = closed.Reason, retryable
	}
	return failure
}
