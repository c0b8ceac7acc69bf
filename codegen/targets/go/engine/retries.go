package parley

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	// retryAfterMax is the longest pause that a server can ask for. A longer pause fails the request at once.
	retryAfterMax = time.Minute
	firstPause    = 500 * time.Millisecond
	pauseMax      = 8 * time.Second
)

// pauseBefore returns the time to wait before the retry with this number, from 0. It returns false if the request
// must not be repeated: the server runs no request twice, so a request is repeated only if it never reached the server,
// or if the server answered that it may be repeated.
func pauseBefore(retry int, err error, method string) (time.Duration, bool) {
	var failure *APIError
	if errors.As(err, &failure) {
		if !failure.isRepeatable(method) {
			return 0, false
		}
		return pauseAfter(retry, failure.Header)
	}
	var connection *ConnectionError
	return usualPause(retry), errors.As(err, &connection) && !connection.Sent
}

// isRepeatable is true if the server has not processed the request. After 500 and 504 the server may have processed it,
// and with the header x-should-retry a provider has it already, so the method must allow a second time.
func (e *APIError) isRepeatable(method string) bool {
	allowsSecond := method != http.MethodPost && method != http.MethodPatch
	switch e.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable:
		return e.Retryable && (allowsSecond || e.Header.Get("x-should-retry") != "false")
	case http.StatusInternalServerError, http.StatusGatewayTimeout:
		return e.Retryable && allowsSecond
	}
	return false
}

func pauseAfter(retry int, header http.Header) (time.Duration, bool) {
	asked := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(asked); err == nil {
		pause := time.Duration(seconds) * time.Second
		return pause, pause >= 0 && pause <= retryAfterMax
	}
	if at, err := http.ParseTime(asked); err == nil {
		pause := max(0, time.Until(at))
		return pause, pause <= retryAfterMax
	}
	return usualPause(retry), true
}

// usualPause doubles with each retry. A random half keeps many clients from returning at the same moment.
func usualPause(retry int) time.Duration {
	pause := min(firstPause<<min(retry, 4), pauseMax)
	return pause/2 + rand.N(pause/2)
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isNeverSent reports whether a request failed before there was a connection.
func isNeverSent(err error) bool {
	var operation *net.OpError
	return errors.As(err, &operation) && (operation.Op == "dial" || operation.Op == "proxyconnect")
}
