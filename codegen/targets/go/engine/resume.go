package parley

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

const (
	// resumeAttemptsMax is how often a stream is opened again without a new event in between.
	resumeAttemptsMax = 5
	firstResumePause  = 250 * time.Millisecond
	resumePauseMax    = 4 * time.Second
	// keysMax is more than the events that a server repeats.
	keysMax = 10_000
)

// resumption opens a cut stream again, and drops the events that the server repeats.
type resumption struct {
	// open sends the request again. Nil if the contract has no Last-Event-ID.
	open func(lastEventID string) (*answer, error)
	// identity has the field of an event's data that tells two events apart, by the events' name.
	identity map[string]string
	// recent and older have the events that the caller has. The older half is forgotten if there are too many.
	recent, older map[string]string
	attempts      int
	isResumed     bool
}

// take returns false if the caller has the event. An event without an identity is a state: only the last one counts.
func (r *resumption) take(next frame) bool {
	if r.open == nil {
		return true
	}
	key, value := next.event, string(next.data)
	if field, isKnown := r.identity[next.event]; isKnown {
		key, value = next.event+" "+fieldOf(next.data, field), ""
	}
	last, isKnown := r.recent[key]
	if !isKnown {
		last, isKnown = r.older[key]
	}
	if len(r.recent) >= keysMax || r.recent == nil {
		r.older, r.recent = r.recent, map[string]string{}
	}
	r.recent[key] = value
	if r.isResumed && isKnown && last == value {
		return false
	}
	r.attempts = 0
	return true
}

// reopen opens the stream again after an error. It returns the last error if there must be no further attempt.
func (r *resumption) reopen(ctx context.Context, lastEventID string, err error) (*answer, error) {
	for r.open != nil && lastEventID != "" && r.attempts < resumeAttemptsMax && mayPass(err) {
		pause := min(firstResumePause<<r.attempts, resumePauseMax)
		r.attempts, r.isResumed = r.attempts+1, true
		if waitErr := wait(ctx, pause); waitErr != nil {
			return nil, waitErr
		}
		var reopened *answer
		if reopened, err = r.open(lastEventID); err == nil {
			return reopened, nil
		}
	}
	return nil, err
}

func mayPass(err error) bool {
	var failure *APIError
	if errors.As(err, &failure) {
		return failure.Retryable
	}
	var cut *StreamCutError
	var connection *ConnectionError
	return errors.As(err, &cut) || errors.As(err, &connection) || errors.Is(err, ErrTimeout)
}

// fieldOf returns the JSON of a field.
func fieldOf(data []byte, name string) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(data, &fields)
	return string(fields[name])
}
