package main

import (
	"context"
	"errors"
	"strconv"

	"parley"
	"parley/realtime"
)

var socketFaultSteps = []step{
	{"socket_closes", func(ctx context.Context) (values, error) {
		return each(ctx, "normal", "away", "empty", "cut", "reason", "later", "frame", "mild")
	}},
	{"socket_frames", func(ctx context.Context) (values, error) {
		return each(ctx, "text", "list", "null", "large", "largest")
	}},
	{"socket_openings", socketOpenings},
	{"socket_prefix", socketPrefix},
	{"socket_late_send", socketLateSend},
	{"socket_slow", socketSlow},
}

const (
	slowFrames     = 32
	slowFrameBytes = 1 << 20
)

func each(ctx context.Context, faults ...string) (values, error) {
	results := values{}
	for _, fault := range faults {
		results[fault] = socketErrorOf(readSocket(ctx, scripted(fault)))
	}
	return results, nil
}

func readSocket(ctx context.Context, client *parley.Client) error {
	socket, err := realtime.New(client).TranscribeStream(ctx)
	if err != nil {
		return err
	}
	defer socket.Close()
	return framesError(ctx, socket)
}

func framesError(ctx context.Context, socket *realtime.TranscribeStreamSocket) error {
	for _, err := range socket.Frames(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

func socketErrorOf(err error) any {
	var closed *parley.SocketClosedError
	var failure *parley.APIError
	switch {
	case errors.As(err, &closed):
		var code any
		if closed.Code != "" {
			code = closed.Code
		}
		return []any{closed.CloseCode, closed.Reason, code, closed.Retryable}
	case errors.As(err, &failure):
		return []any{failure.StatusCode, failure.Code}
	case errors.Is(err, parley.ErrTimeout):
		return "timeout"
	}
	return streamErrorOf(err)
}

func socketOpenings(ctx context.Context) (values, error) {
	refused := readSocket(ctx, scripted("refused"))
	late := readSocket(ctx, scripted("late", parley.WithTimeout(timeout)))
	moved := readSocket(ctx, scripted("moved"))
	var failure *parley.APIError
	if !errors.As(moved, &failure) {
		return nil, moved
	}
	return values{"refused": socketErrorOf(refused), "moved": failure.StatusCode, "late": socketErrorOf(late)}, nil
}

func socketPrefix(ctx context.Context) (values, error) {
	err := readSocket(ctx, scripted("offered", parley.WithHeaderPrefix("Acme")))
	var closed *parley.SocketClosedError
	if !errors.As(err, &closed) {
		return nil, err
	}
	return values{"offered": closed.Reason}, nil
}

func socketLateSend(ctx context.Context) (values, error) {
	socket, err := realtime.New(scripted("normal")).TranscribeStream(ctx)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	if err := framesError(ctx, socket); err != nil {
		return nil, err
	}
	var closed *parley.SocketClosedError
	if err := socket.Send(ctx, realtime.EndFrame{}); !errors.As(err, &closed) {
		return values{"close": nil}, err
	}
	return values{"close": closed.CloseCode}, nil
}

func socketSlow(ctx context.Context) (values, error) {
	socket, err := realtime.New(scripted("slow")).TranscribeStream(ctx)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	for range slowFrames {
		if err := socket.Send(ctx, realtime.Audio(make([]byte, slowFrameBytes))); err != nil {
			return nil, err
		}
	}
	if err := socket.Send(ctx, realtime.EndFrame{}); err != nil {
		return nil, err
	}
	var closed *parley.SocketClosedError
	if err := framesError(ctx, socket); !errors.As(err, &closed) {
		return nil, err
	}
	bytes, err := strconv.Atoi(closed.Reason)
	return values{"bytes": bytes}, err
}
