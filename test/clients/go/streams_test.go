package clienttest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"parley"
	"parley/compat"
	"parley/router"
)

func readStream(client *parley.Client) (names []string, text string, err error) {
	stream, err := router.New(client).CreateResponseStream(context.Background(), router.LLMRequest{})
	if err != nil {
		return nil, "", err
	}
	for event, err := range stream.All() {
		if err != nil {
			return names, text, err
		}
		names = append(names, event.Name)
		if delta, isDelta := event.Data.(router.ResponseTextDelta); isDelta {
			text += delta.Delta
		}
	}
	return names, text, nil
}

func TestAStreamIsReadInAllFormsOfTheFormat(t *testing.T) {
	events := "\ufeff: comment\nevent: response.text.delta\ndata: {\"delta\":\ndata: \"a\"}\n\nevent: later\ndata: {}\n\n" +
		"id: 3\nevent:response.completed\ndata:{\"response\":{}}\n\nevent: response.text.delta\ndata: {\"delta\":\"b\"}\n\n"
	for _, end := range []string{"\n", "\r\n", "\r"} {
		_, client := start(t, answerEvents(strings.ReplaceAll(events, "\n", end)))
		names, text, err := readStream(client)
		if err != nil || text != "a" || strings.Join(names, " ") != "response.text.delta later response.completed" {
			t.Errorf("%q: %v %q %v", end, names, text, err)
		}
	}
}

func TestAnIncompleteStreamIsAnError(t *testing.T) {
	delta := "event: response.text.delta\ndata: {\"delta\":\"a\"}\n\n"
	for name, events := range map[string]string{
		"it ends without its last event":     delta,
		"its last event has no empty line":   delta + "event: response.completed\ndata: {}",
		"there is no event before the end":   "",
		"there are only comments before end": ": a\n\n",
	} {
		_, client := start(t, answerEvents(events))
		_, _, err := readStream(client)
		var cut *parley.StreamCutError
		if !errors.As(err, &cut) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnEventThatTheContractDoesNotAllowIsAnError(t *testing.T) {
	const limit = 16 << 20
	for name, events := range map[string]string{
		"an event is longer than the limit": "event: response.text.delta\ndata: {\"delta\":\"" + strings.Repeat("a", limit) + "\"}\n\n",
		"many short lines exceed the limit": "event: a\n" + strings.Repeat("data: "+strings.Repeat("a", 1<<12)+"\n", limit>>12),
		"a line without an end is too long": "data: " + strings.Repeat("a", limit+1),
		"an event is not JSON":              "event: response.text.delta\ndata: {\n\n",
	} {
		_, client := start(t, answerEvents(events))
		_, _, err := readStream(client)
		var broken *parley.ProtocolError
		if !errors.As(err, &broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAFailureInAStreamOfValuesIsTheError(t *testing.T) {
	chunk := `data: {"choices": [{"index": 0, "delta": {"content": "a", "future": true}}]}` + "\n\n"
	for events, code := range map[string]string{chunk + "data: [DONE]\n\n": "", chunk + "data: " + strings.ReplaceAll(busy, "\n", "") + "\n\n": "rate_limited"} {
		_, client := start(t, answerEvents(events))
		stream, err := compat.New(client).CreateChatCompletionStream(context.Background(), compat.ChatCompletionRequest{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var failure error
		for chunk, err := range stream.All() {
			if failure = err; err == nil && chunk.Choices[0].Delta.Extra["future"] != true {
				t.Error("the further field is lost:", chunk)
			}
		}
		var answered *parley.APIError
		if found := errors.As(failure, &answered); found != (code != "") || found && answered.Code != code {
			t.Error(events, failure)
		}
	}
}
