package main

import (
	"context"
	"fmt"

	"parley/compat"
	"parley/router"
)

var textSteps = []step{
	{"llm", llm},
	{"llm_stream", llmStream},
	{"llm_tool", llmTool},
	{"chat", chat},
	{"chat_stream", chatStream},
}

var question = router.LLMRequest{
	Input:           []router.InputItem{router.InputMessage{Role: "user", Content: []router.InputText{{Text: text}}}},
	MaxOutputTokens: 20,
	Routing:         loopback,
}

func llm(ctx context.Context) (values, error) {
	answer, err := routing.CreateResponse(ctx, question)
	if err != nil {
		return nil, err
	}
	return values{"text": textOf(answer), "stop_reason": answer.StopReason}, nil
}

func textOf(answer *router.LLMResponse) string {
	text := ""
	for _, item := range answer.Output {
		if message, isMessage := item.(router.OutputMessage); isMessage {
			for _, part := range message.Content {
				text += part.Text
			}
		}
	}
	return text
}

func llmStream(ctx context.Context) (values, error) {
	stream, err := routing.CreateResponseStream(ctx, question)
	if err != nil {
		return nil, err
	}
	text, last, terminal := "", "", 0
	for event, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		last = event.Name
		switch data := event.Data.(type) {
		case router.ResponseTextDelta:
			text += data.Delta
		case router.ResponseCompleted, router.ErrorEnvelope:
			terminal++
		}
	}
	return values{"text": text, "last": last, "terminal_events": terminal}, nil
}

func llmTool(ctx context.Context) (values, error) {
	request := question
	request.Routing = router.ExplicitRouting{Model: "tools/tools"}
	schema := map[string]any{"type": "object", "properties": map[string]any{}}
	request.Tools = []router.Tool{{Name: "weather", Parameters: schema}}
	stream, err := routing.CreateResponseStream(ctx, request)
	if err != nil {
		return nil, err
	}
	name, arguments, last := "", "", ""
	for event, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		last = event.Name
		switch data := event.Data.(type) {
		case router.ResponseItemAdded:
			if call, isCall := data.Item.(router.OutputFunctionCallShell); isCall {
				name = call.Name
			}
		case router.ResponseFunctionCallArgumentsDelta:
			arguments += data.Delta
		}
	}
	return values{"name": name, "arguments": arguments, "last": last}, nil
}

var chatRequest = compat.ChatCompletionRequest{
	Model:    loopback.Model,
	Messages: []compat.ChatMessage{{Role: "user", Extra: map[string]any{"content": text}}},
}

func chat(ctx context.Context) (values, error) {
	answer, err := compatible.CreateChatCompletion(ctx, chatRequest, nil)
	if err != nil {
		return nil, err
	}
	if len(answer.Choices) == 0 {
		return nil, fmt.Errorf("there is no choice")
	}
	return values{"text": answer.Choices[0].Message.Content}, nil
}

func chatStream(ctx context.Context) (values, error) {
	stream, err := compatible.CreateChatCompletionStream(ctx, chatRequest, nil)
	if err != nil {
		return nil, err
	}
	text := ""
	for chunk, err := range stream.All() {
		if err != nil {
			return nil, err
		}
		for _, choice := range chunk.Choices {
			if choice.Delta.Content != nil {
				text += *choice.Delta.Content
			}
		}
	}
	return values{"text": text}, nil
}
