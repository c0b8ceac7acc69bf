package parley

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"slices"

	"parley/internal/wire"
)

// Stream is an event stream. It is complete only after its last event: if the connection ends before, the stream
// ends with a *StreamCutError.
type Stream[T any] struct {
	// Header has the answer's headers.
	Header http.Header
	answer *answer
	frames *frameReader
	// decode returns the frame's value, or false if the frame ends the stream and has no value.
	decode func(frame) (value T, hasValue bool, err error)
	isLast func(frame) bool
	isOver bool
}

// Event is an event with a name.
type Event[T any] struct {
	// Name is the kind of the event. Data has the type that belongs to the name.
	Name string
	// ID is the event's id, for the header Last-Event-ID. It is empty if the stream has no ids.
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
	answer, err := surface.send(ctx, request, surface.client.settings(options))
	if err != nil {
		return nil, err
	}
	answer.settle()
	frames := newFrameReader(answer.Body, surface.client.eventBytesMax)
	return &Stream[T]{Header: answer.Header, answer: answer, frames: frames}, nil
}

// All returns the events until the last event. An error ends the sequence. The stream is closed when the loop ends.
func (s *Stream[T]) All() iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		defer s.Close()
		for !s.isOver {
			value, hasValue, err := s.next()
			if (hasValue || err != nil) && !yield(value, err) || err != nil {
				return
			}
		}
	}
}

// Close ends the stream. The server stops if it has not sent all events.
func (s *Stream[T]) Close() error {
	s.isOver = true
	defer s.answer.stop()
	return s.answer.Body.Close()
}

func (s *Stream[T]) next() (value T, hasValue bool, err error) {
	next, err := s.frames.next()
	if err != nil {
		s.isOver = true
		return value, false, cutError(s.answer.Request.Context(), err)
	}
	s.isOver = s.isLast(next)
	return s.decode(next)
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
