package parley

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"parley/internal/wire"
)

// Stream is an event stream. It is complete only after its last event: if the connection ends before, the stream
// ends with a *StreamCutError.
type Stream[T any] struct {
	// Header has the answer's headers.
	Header http.Header
	// ctx ends when the stream is closed. All requests of the stream have it.
	ctx    context.Context
	cancel context.CancelFunc
	// mutex guards the answer, because a stream may be closed while another goroutine opens it again.
	mutex  sync.Mutex
	answer *answer
	frames *frameReader
	// decode returns the frame's value, or false if the frame ends the stream and has no value.
	decode     func(frame) (value T, hasValue bool, err error)
	isLast     func(frame) bool
	isOver     atomic.Bool
	resumption resumption
}

// Event is an event with a name.
type Event[T any] struct {
	// Name is the kind of the event. Data has the type that belongs to the name.
	Name string
	// ID is the event's id. It is empty if the stream has no ids.
	ID   string
	Data T
}

// Events sends a request and returns a stream of events with names.
func Events[T any](
	ctx context.Context, surface Surface, request Request, options []CallOption,
	decode func(name string, data []byte) (T, error), lastEvents ...string,
) (*Stream[Event[T]], error) {
	stream, err := openStream[Event[T]](ctx, surface, request, options)
	if err != nil {
		return nil, err
	}
	stream.decode = func(next frame) (Event[T], bool, error) {
		data, err := decode(next.event, next.data)
		return Event[T]{next.event, next.id, data}, true, err
	}
	stream.isLast = func(next frame) bool { return slices.Contains(lastEvents, next.event) }
	return stream, nil
}

// Data sends a request and returns a stream of values. The last value has one of the types, or there is a last frame
// [DONE].
func Data[T any](
	ctx context.Context, surface Surface, request Request, options []CallOption,
	decode func(data []byte) (T, error), lastTypes ...string,
) (*Stream[T], error) {
	stream, err := openStream[T](ctx, surface, request, options)
	if err != nil {
		return nil, err
	}
	stream.decode = func(next frame) (T, bool, error) {
		var none T
		if isDone(next) {
			return none, false, nil
		}
		if failure := errorIn(next.data); failure != nil {
			return none, false, surface.toError(stream.answer.Response, next.data)
		}
		value, err := decode(next.data)
		return value, true, err
	}
	stream.isLast = func(next frame) bool {
		return isDone(next) || slices.Contains(lastTypes, wire.Tag(next.data, "type"))
	}
	return stream, nil
}

func openStream[T any](
	ctx context.Context, surface Surface, request Request, options []CallOption,
) (*Stream[T], error) {
	request.accept = "text/event-stream"
	settings := surface.client.settings(options)
	ctx, cancel := context.WithCancel(ctx)
	first, err := surface.send(ctx, request, settings)
	if err != nil {
		cancel()
		return nil, err
	}
	first.settle()
	stream := &Stream[T]{Header: first.Header, ctx: ctx, cancel: cancel, answer: first, frames: newFrameReader(first.Body)}
	if request.identity != nil {
		// Each attempt to open the stream again is one request.
		once := *settings
		once.retriesMax = 0
		stream.resumption = resumption{identity: request.identity, open: func(lastEventID string) (*answer, error) {
			request.lastEventID = lastEventID
			return surface.send(ctx, request, &once)
		}}
	}
	return stream, nil
}

// All returns the events until the last event. An error ends the sequence. The stream is closed when the loop ends.
func (s *Stream[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer s.Close()
		for !s.isOver.Load() {
			value, hasValue, err := s.next()
			if (hasValue || err != nil) && !yield(value, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the stream, also while it is opened again. The server stops if it has not sent all events.
func (s *Stream[T]) Close() error {
	s.isOver.Store(true)
	s.cancel()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	defer s.answer.stop()
	return s.answer.Body.Close()
}

func (s *Stream[T]) next() (value T, hasValue bool, err error) {
	next, err := s.nextFrame()
	if err != nil {
		s.isOver.Store(true)
		return value, false, err
	}
	if s.isLast(next) {
		s.isOver.Store(true)
	}
	value, hasValue, err = s.decode(next)
	var failure *APIError
	if err != nil && !errors.As(err, &failure) {
		err = &ProtocolError{Message: "an event is not what the contract says", Err: err}
	}
	return value, hasValue, err
}

// nextFrame returns the next frame that the caller does not have. If the stream is cut, it is opened again if possible.
func (s *Stream[T]) nextFrame() (frame, error) {
	for {
		next, err := s.frames.next()
		if err == nil && s.resumption.take(next) {
			return next, nil
		}
		if err == nil {
			continue
		}
		if err = s.readError(err); s.ctx.Err() != nil {
			return frame{}, err
		}
		if err := s.reopen(err); err != nil {
			return frame{}, err
		}
	}
}

func (s *Stream[T]) readError(err error) error {
	var broken *ProtocolError
	if errors.As(err, &broken) {
		return err
	}
	return cutError(s.answer.Request.Context(), err)
}

func (s *Stream[T]) reopen(err error) error {
	lastEventID := s.frames.id
	// The context of the cut answer has ended if a read was late.
	reopened, err := s.resumption.reopen(s.ctx, lastEventID, err)
	if err != nil {
		return err
	}
	reopened.settle()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.answer.stop()
	_ = s.answer.Body.Close()
	s.answer, s.frames = reopened, newFrameReader(reopened.Body)
	s.frames.id = lastEventID
	return context.Cause(s.ctx)
}

func isDone(next frame) bool { return string(next.data) == "[DONE]" }

// errorIn returns the field `error` of a frame. Nil if the frame has no error.
func errorIn(data []byte) json.RawMessage {
	var failed struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &failed) != nil || wire.KindOf(failed.Error) == wire.Null {
		return nil
	}
	return failed.Error
}
