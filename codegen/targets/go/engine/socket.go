package parley

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// Channel is a socket's row in the contract.
type Channel struct {
	Address, Subprotocol string
	Query                url.Values
	// Retryable has for each code of an error that closes the socket whether a new socket may succeed.
	Retryable map[string]bool
}

// Socket is a typed socket. Reading and writing may happen at the same time, but only one loop may read.
type Socket[Sent, Received any] struct {
	connection *websocket.Conn
	retryable  map[string]bool
	decode     func(data []byte, isBinary bool) (Received, error)
	isClosed   atomic.Bool
	// closed is how the server closed the socket. Nil if the loop over the frames has not ended.
	closed atomic.Pointer[SocketClosedError]
	// failed is the last error frame. Only the loop over the frames uses it.
	failed errorFrame
}

// binaryFrame is a frame that is sent without JSON.
type binaryFrame interface{ BinaryFrame() []byte }

const (
	// openTimeoutMax limits the opening of a socket if the client's timeout is longer.
	openTimeoutMax = 30 * time.Second
	// frameBytesMax is the longest frame that a socket accepts.
	frameBytesMax = 16 << 20
)

// Open opens a socket within the client's timeout, at most 30 seconds.
func Open[Sent, Received any](
	ctx context.Context, client *Client, channel Channel, decode func(data []byte, isBinary bool) (Received, error),
) (*Socket[Sent, Received], error) {
	ctx, cancel := context.WithTimeoutCause(ctx, min(client.timeout, openTimeoutMax), ErrTimeout)
	defer cancel()
	address := "ws" + strings.TrimPrefix(client.baseURL, "http") + channel.Address
	if len(channel.Query) > 0 {
		address += "?" + channel.Query.Encode()
	}
	header := http.Header{"Authorization": {"Bearer " + client.apiKey}, "User-Agent": {client.userAgent}}
	connection, response, err := websocket.Dial(ctx, address, &websocket.DialOptions{
		HTTPClient: client.http, HTTPHeader: header, Subprotocols: []string{client.subprotocol(channel.Subprotocol)},
	})
	if err != nil {
		return nil, refusal(ctx, client, response, err)
	}
	connection.SetReadLimit(frameBytesMax)
	return &Socket[Sent, Received]{connection: connection, retryable: channel.Retryable, decode: decode}, nil
}

var serviceProtocol = regexp.MustCompile(`^service\.`)

// subprotocol puts the server's prefix in the place of "service".
func (c *Client) subprotocol(name string) string {
	return serviceProtocol.ReplaceAllLiteralString(name, strings.ToLower(c.headerPrefix)+".")
}

// refusal returns the server's error if it answered the request for a socket.
func refusal(ctx context.Context, client *Client, response *http.Response, err error) error {
	if response == nil {
		return connectionError(ctx, err)
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		return &ProtocolError{Message: "the server's answer opens no WebSocket", Err: err}
	}
	return Surface{}.On(client).readError(response)
}

// Send sends a frame. It waits if the network is slower than the caller. It returns a *SocketClosedError if the socket
// is closed.
func (s *Socket[Sent, Received]) Send(ctx context.Context, frame Sent) error {
	kind, data := websocket.MessageText, []byte(nil)
	if binary, isBinary := any(frame).(binaryFrame); isBinary {
		kind, data = websocket.MessageBinary, binary.BinaryFrame()
	} else {
		var err error
		if data, err = json.Marshal(frame); err != nil {
			return err
		}
	}
	return s.sendError(ctx, s.connection.Write(ctx, kind, data))
}

func (s *Socket[Sent, Received]) sendError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if closed := s.closed.Load(); closed != nil {
		return closed
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.isClosed.Load() {
		return &SocketClosedError{CloseCode: int(websocket.StatusNormalClosure), Err: err}
	}
	return closedError(err, errorFrame{}, s.retryable)
}

// Frames returns the server's frames until the socket closes. If the server closes with another code than 1000, or the
// connection is lost, the sequence ends with a *SocketClosedError. A frame that is no JSON object or longer than 16 MiB
// ends the sequence with a *ProtocolError. If the context ends, the socket is closed.
func (s *Socket[Sent, Received]) Frames(ctx context.Context) iter.Seq2[Received, error] {
	return func(yield func(Received, error) bool) {
		for {
			frame, err := s.read(ctx)
			var closed *SocketClosedError
			if errors.As(err, &closed) {
				s.closed.CompareAndSwap(nil, closed)
				if s.isClosed.Load() || closed.CloseCode == int(websocket.StatusNormalClosure) {
					return
				}
			}
			if !yield(frame, err) || err != nil {
				return
			}
		}
	}
}

func (s *Socket[Sent, Received]) read(ctx context.Context) (Received, error) {
	var none Received
	kind, data, err := s.connection.Read(ctx)
	if err != nil && ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	if errors.Is(err, websocket.ErrMessageTooBig) {
		return none, &ProtocolError{Message: "a frame is too long", Err: err}
	}
	if err != nil {
		return none, closedError(err, s.failed, s.retryable)
	}
	isBinary := kind == websocket.MessageBinary
	if !isBinary {
		if err := s.failed.take(data); err != nil {
			return none, err
		}
	}
	frame, err := s.decode(data, isBinary)
	if err != nil {
		return none, &ProtocolError{Message: "a frame is not what the contract says", Err: err}
	}
	return frame, nil
}

// Close closes the socket with the code 1000.
func (s *Socket[Sent, Received]) Close() error {
	s.isClosed.Store(true)
	err := s.connection.Close(websocket.StatusNormalClosure, "")
	var closed websocket.CloseError
	if errors.As(err, &closed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
