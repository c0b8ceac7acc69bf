package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"

	"parley"
	"parley/platform"
)

var webhookSteps = []step{
	{"webhook", webhook},
	{"webhook_refused", webhookRefused},
	{"pages", pages},
	{"not_found", notFound},
}

const (
	sessionsMore = 4
	pagesMax     = 10
	unknownCall  = "0198c0de-7c1b-7a4e-9b1d-3a5f0c2e4d6b"
)

// received returns a webhook that the server has sent.
func received() (header http.Header, body []byte, err error) {
	var sent struct {
		Headers map[string]string
		Body    string
	}
	data, err := os.ReadFile(variable("PARLEY_WEBHOOK"))
	if err == nil {
		err = json.Unmarshal(data, &sent)
	}
	return headerOf(sent.Headers), []byte(sent.Body), err
}

func headerOf(fields map[string]string) http.Header {
	header := http.Header{}
	for name, value := range fields {
		header.Set(name, value)
	}
	return header
}

func verifier() parley.Verifier {
	return parley.Verifier{Secrets: []string{variable("PARLEY_WEBHOOK_SECRET")}}
}

func webhook(context.Context) (values, error) {
	header, body, err := received()
	if err != nil {
		return nil, err
	}
	event, err := platform.VerifyWebhook(verifier(), header, body)
	if err != nil {
		return nil, err
	}
	report, isReport := event.(platform.ReportEvent)
	if !isReport {
		return nil, errors.New("the webhook is not a report")
	}
	return values{"type": report.Type}, nil
}

func webhookRefused(context.Context) (values, error) {
	header, body, err := received()
	if err != nil {
		return nil, err
	}
	_, err = platform.VerifyWebhook(verifier(), header, append(body, ' '))
	var refused *parley.WebhookError
	if !errors.As(err, &refused) {
		return values{"error": nil}, err
	}
	return values{"error": refused.Reason}, nil
}

func pages(ctx context.Context) (values, error) {
	for range sessionsMore {
		session := platform.NewSession{Intent: &platform.SessionIntent{Language: parley.Ptr("en")}}
		if _, err := resources.CreateSession(ctx, session); err != nil {
			return nil, err
		}
	}
	var sizes []int
	ids := map[string]bool{}
	params := &platform.ListSessionsParams{Limit: parley.Ptr[int64](2)}
	for len(sizes) < pagesMax {
		page, err := resources.ListSessions(ctx, params)
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, len(page.Entries))
		for _, entry := range page.Entries {
			ids[entry.SessionID] = true
		}
		if page.NextCursor == nil {
			break
		}
		params.Cursor = page.NextCursor
	}
	return values{"sizes": sizes, "ids": len(ids)}, nil
}

func notFound(ctx context.Context) (values, error) {
	_, err := resources.GetCall(ctx, unknownCall)
	var failure *parley.APIError
	if !errors.As(err, &failure) {
		return values{"status": http.StatusOK, "code": nil}, err
	}
	return values{"status": failure.StatusCode, "code": failure.Code}, nil
}
