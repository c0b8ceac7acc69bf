package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"parley"
	"parley/compat"
	"parley/platform"
	"parley/router"
)

var ruleSteps = []step{
	{"rule_retries", ruleRetries},
	{"rule_redirects", ruleRedirects},
	{"rule_headers", ruleHeaders},
	{"rule_errors", ruleErrors},
	{"rule_timeouts", ruleTimeouts},
	{"rule_webhooks", ruleWebhooks},
}

const readTimeout = time.Second

// answering returns a client for a prepared answer. Its key comes from PARLEY_API_KEY.
func answering(answer string, options ...parley.Option) *router.Client {
	return router.New(parley.New(variable("PARLEY_RULES_URL")+"/"+answer, "", options...))
}

func ruleRetries(ctx context.Context) (values, error) {
	names := []string{"limited", "progress", "broken", "upstream", "overloaded", "late", "final", "begun"}
	_, withKey := answering("limited").CreateResponse(ctx, question, parley.WithHeader("idempotency-KEY", "mine"))
	return values{"posts": kindsOf(ctx, names, post), "reads": kindsOf(ctx, names, read), "with_key": kindOf(withKey)}, nil
}

func ruleRedirects(ctx context.Context) (values, error) {
	return kindsOf(ctx, []string{"moved", "other", "temporary"}, post), nil
}

func ruleHeaders(ctx context.Context) (values, error) {
	connection := parley.New(variable("PARLEY_RULES_URL")+"/headers//", "", parley.WithHeaderPrefix("Voice"))
	params := &compat.TranscribeParams{ServiceIntent: &compat.Intent{Language: parley.Ptr("dé🎵")}}
	contentType := parley.WithHeader("content-type", "audio/l16; rate=8000")
	answer, err := compat.New(connection).Transcribe(ctx, strings.NewReader("\x00\x00"), params, contentType)
	if err != nil {
		return nil, err
	}
	return values{"text": answer.Text}, nil
}

func ruleErrors(ctx context.Context) (values, error) {
	kinds := kindsOf(ctx, []string{"page", "gateway", "text", "longest", "longer"}, read)
	kinds["reset"], kinds["cut"] = kindOf(post(ctx, answering("reset"))), kindOf(post(ctx, answering("cut")))
	kinds["refused"] = kindOf(read(ctx, router.New(parley.New("http://127.0.0.1:2", "", parley.WithRetriesMax(1)))))
	return kinds, nil
}

func ruleTimeouts(ctx context.Context) (values, error) {
	limited := func(run func(context.Context, *router.Client) error) func(context.Context, string) any {
		return func(ctx context.Context, name string) any {
			return kindOf(run(ctx, answering(name, parley.WithTimeout(readTimeout))))
		}
	}
	of, hear, follow := limited(read), limited(hearSpeech), limited(followStream)
	return values{
		"silent": of(ctx, "silent"), "slow": of(ctx, "slow"),
		"audio": hear(ctx, "audio"), "stalled": hear(ctx, "stalled"),
		"paused": follow(ctx, "paused"),
	}, nil
}

func post(ctx context.Context, client *router.Client) error {
	_, err := client.CreateResponse(ctx, question)
	return err
}

func read(ctx context.Context, client *router.Client) error {
	_, err := client.ListModels(ctx, nil)
	return err
}

func hearSpeech(ctx context.Context, client *router.Client) error {
	speech, err := client.CreateSpeech(ctx, router.SpeechRequest{Input: "Hi."})
	if err != nil {
		return err
	}
	defer speech.Close()
	_, err = io.Copy(io.Discard, speech)
	return err
}

func followStream(ctx context.Context, client *router.Client) error {
	stream, err := client.CreateResponseStream(ctx, question)
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

func kindsOf(ctx context.Context, names []string, run func(context.Context, *router.Client) error) values {
	kinds := values{}
	for _, name := range names {
		kinds[name] = kindOf(run(ctx, answering(name)))
	}
	return kinds
}

// kindOf returns the status of an error answer, or the name of another error.
func kindOf(err error) any {
	var failure *parley.APIError
	var protocol *parley.ProtocolError
	var connection *parley.ConnectionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failure):
		return failure.StatusCode
	case errors.Is(err, parley.ErrTimeout):
		return "timeout"
	case errors.As(err, &protocol):
		return "protocol"
	case errors.As(err, &connection) && connection.Sent:
		return "lost"
	case errors.As(err, &connection):
		return "unsent"
	}
	return err.Error()
}

type webhookCase struct {
	Name    string            `json:"name"`
	Secrets []string          `json:"secrets"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Now     int64             `json:"now"`
}

func ruleWebhooks(context.Context) (values, error) {
	var cases []webhookCase
	data, err := os.ReadFile(variable("PARLEY_WEBHOOK_CASES"))
	if err == nil {
		err = json.Unmarshal(data, &cases)
	}
	results := values{}
	for _, sent := range cases {
		results[sent.Name] = sent.result()
	}
	return results, err
}

func (c webhookCase) result() string {
	header := headerOf(c.Headers)
	verifier := parley.Verifier{Secrets: c.Secrets, Now: func() time.Time { return time.Unix(c.Now, 0) }}
	event, err := platform.VerifyWebhook(verifier, header, []byte(c.Body))
	var refused *parley.WebhookError
	if errors.As(err, &refused) {
		return refused.Reason
	}
	if err != nil {
		return "misuse"
	}
	if status, isStatus := event.(platform.StatusEvent); isStatus {
		return status.Type
	}
	return "another event"
}
