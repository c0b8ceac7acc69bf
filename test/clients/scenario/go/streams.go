package main

import (
	"context"
	"errors"
	"fmt"

	"parley"
	"parley/platform"
	"parley/router"
)

var streamSteps = []step{
	{"resumed_webhooks", resumedWebhooks},
	{"resumed_session", resumedSession},
	{"lost_stream", lostStream},
	{"unreadable_event", func(ctx context.Context) (values, error) {
		return values{"error": streamErrorOf(readResponse(ctx, "unreadable"))}, nil
	}},
	{"long_event", func(ctx context.Context) (values, error) {
		longest, longer := readResponse(ctx, "longest"), readResponse(ctx, "long")
		return values{"longest": streamErrorOf(longest), "longer": streamErrorOf(longer)}, nil
	}},
}

// scripted returns the connection to a path of the scripted server.
func scripted(fault string, options ...parley.Option) *parley.Client {
	return parley.New(variable("PARLEY_SCRIPTED_URL")+"/"+fault, variable("PARLEY_API_KEY"), options...)
}

func resumedWebhooks(ctx context.Context) (values, error) {
	events, err := readWebhooks(ctx, "twins")
	return values{"events": events}, err
}

func lostStream(ctx context.Context) (values, error) {
	events, err := readWebhooks(ctx, "lost")
	return values{"events": events, "error": streamErrorOf(err)}, nil
}

func readWebhooks(ctx context.Context, fault string) (names []string, err error) {
	params := platform.StreamWebhookEventsParams{Cursor: parley.Ptr("0:0")}
	stream, err := platform.New(scripted(fault)).StreamWebhookEvents(ctx, &params)
	if err != nil {
		return nil, err
	}
	for event, err := range stream.All() {
		if err != nil {
			return names, err
		}
		name := event.Name
		if webhook, isWebhook := event.Data.(platform.StreamedWebhookEvent); isWebhook {
			name = webhook.EventID
		}
		names = append(names, name)
	}
	return names, nil
}

func resumedSession(ctx context.Context) (values, error) {
	stream, err := platform.New(scripted("states")).StreamSession(ctx, "s", nil)
	if err != nil {
		return nil, err
	}
	var events []string
	for event, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		switch data := event.Data.(type) {
		case platform.SessionStatus:
			events = append(events, string(data.Status))
		case platform.SessionTurn:
			events = append(events, fmt.Sprintf("turn %d", data.Index))
		case platform.CallEvent:
			events = append(events, "event "+data.ID)
		default:
			events = append(events, event.Name)
		}
	}
	return values{"events": events}, nil
}

func readResponse(ctx context.Context, fault string) error {
	stream, err := router.New(scripted(fault)).CreateResponseStream(ctx, question)
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

func streamErrorOf(err error) any {
	var cut *parley.StreamCutError
	var broken *parley.ProtocolError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &cut):
		return "truncated"
	case errors.As(err, &broken):
		return "protocol"
	}
	return err.Error()
}
