package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley"
	"parley/router"
)

var faultSteps = []step{
	{"retry", retry},
	{"cut_stream", func(ctx context.Context) (values, error) { return errorOf(readStream(ctx, "reset")) }},
	{"short_stream", func(ctx context.Context) (values, error) { return errorOf(readStream(ctx, "short")) }},
	{"cancel", cancel},
	{"timeout", late},
}

const timeout = 300 * time.Millisecond

// at returns a client for the path with a fault.
func at(fault string) *router.Client {
	return router.New(parley.New(variable("PARLEY_FAULTS_URL")+"/"+fault, variable("PARLEY_API_KEY")))
}

func retry(ctx context.Context) (values, error) {
	answer, err := at("busy").CreateResponse(ctx, question)
	if err != nil {
		return nil, err
	}
	return values{"text": textOf(answer)}, nil
}

func readStream(ctx context.Context, fault string) error {
	stream, err := at(fault).CreateResponseStream(ctx, question)
	if err != nil {
		return err
	}
	for _, err := range stream.All() {
		if err != nil {
			return err
		}
	}
	return nil
}

var errCancelled = errors.New("the program cancelled the request")

func cancel(ctx context.Context) (values, error) {
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		if answer, err := http.Get(variable("PARLEY_FAULTS_URL") + "/sent/silent"); err == nil {
			answer.Body.Close()
			stop(errCancelled)
		}
	}()
	_, err := at("silent").CreateResponse(ctx, question)
	return errorOf(err)
}

func late(ctx context.Context) (values, error) {
	_, err := at("silent").CreateResponse(ctx, question, parley.WithCallTimeout(timeout))
	return errorOf(err)
}

func errorOf(err error) (values, error) {
	var cut *parley.StreamCutError
	switch {
	case errors.As(err, &cut):
		return values{"error": "truncated"}, nil
	case errors.Is(err, parley.ErrTimeout):
		return values{"error": "timeout"}, nil
	case errors.Is(err, errCancelled), errors.Is(err, context.Canceled):
		return values{"error": "cancelled"}, nil
	}
	return values{"error": nil}, err
}
