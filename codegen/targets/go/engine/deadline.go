package parley

import (
	"context"
	"io"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// deadline ends a request with ErrTimeout.
type deadline struct {
	timer   *time.Timer
	timeout time.Duration
	cancel  context.CancelCauseFunc
}

func startDeadline(ctx context.Context, timeout time.Duration) (context.Context, deadline) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(timeout, func() { cancel(ErrTimeout) })
	return ctx, deadline{timer, timeout, cancel}
}

func (d deadline) stop() {
	d.timer.Stop()
	d.cancel(nil)
}

// timedBody limits the time of each read.
type timedBody struct {
	io.ReadCloser
	deadline deadline
}

func (b timedBody) Read(buffer []byte) (int, error) {
	b.deadline.timer.Reset(b.deadline.timeout)
	defer b.deadline.timer.Stop()
	return b.ReadCloser.Read(buffer)
}

// route knows whether a request found a connection. A connection is found after its TLS handshake.
type route struct{ isSought, isFound atomic.Bool }

func traceRoute(ctx context.Context) (context.Context, *route) {
	found := &route{}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { found.isSought.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { found.isFound.Store(true) },
	}), found
}

// isMissing is true if the connection was never made. A transport of the caller may say nothing about connections.
func (r *route) isMissing() bool { return r.isSought.Load() && !r.isFound.Load() }
