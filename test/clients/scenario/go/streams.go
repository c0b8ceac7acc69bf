package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"parley"
	"parley/platform"
	"parley/router"
)

var streamSteps = []step{
	{"resumed_webhooks", resumedWebhooks},
	{"resumed_session", resumedSession},
	{"lost_stream", lostStream},
	{"late_read", lateRead},
	{"closed_streams", closedStreams},
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
	events, err := readWebhooks(ctx, scripted("twins"))
	return values{"events": events}, err
}

func lostStream(ctx context.Context) (values, error) {
	events, err := readWebhooks(ctx, scripted("lost"))
	return values{"events": events, "error": streamErrorOf(err)}, nil
}

func lateRead(ctx context.Context) (values, error) {
	events, err := readWebhooks(ctx, scripted("stalled", parley.WithTimeout(time.Second)))
	return values{"events": events}, err
}

func closedStreams(ctx context.Context) (values, error) {
	results := values{}
	for _, fault := range []string{"opening", "pausing"} {
		events, err := readUntilClosed(ctx, fault)
		if err != nil {
			return nil, err
		}
		results[fault] = events
	}
	return results, nil
}

func readUntilClosed(ctx context.Context, fault string) (names []string, err error) {
	stream, err := openWebhooks(ctx, scripted(fault))
	if err != nil {
		return nil, err
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		names, _ = webhookNames(stream)
	}()
	reached := ask("reached", fault)
	closed := stream.Close()
	released := ask("released", fault)
	<-over
	return names, errors.Join(reached, closed, released)
}

// ask waits until the scripted server answers a question about a fault.
func ask(question, fault string) error {
	response, err := http.Get(variable("PARLEY_SCRIPTED_URL") + "/" + question + "/" + fault)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

type webhookStream = *parley.Stream[parley.Event[platform.StreamWebhookEventsEvent]]

func openWebhooks(ctx context.Context, client *parley.Client) (webhookStream, error) {
	params := platform.StreamWebhookEventsParams{Cursor: parley.Ptr("0:0")}
	return platform.New(client).StreamWebhookEvents(ctx, &params)
}

func readWebhooks(ctx context.Context, client *parley.Client) ([]string, error) {
	stream, err := openWebhooks(ctx, client)
	if err != nil {
		return nil, err
	}
	return webhookNames(stream)
}

func webhookNames(stream webhookStream) (names []string, err error) {
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
