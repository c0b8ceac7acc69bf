package clienttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"parley"
	"parley/router"
)

const transcript = `{"text": "Hi.", "segments": [], "route": {}, "usage": {}, "future": 1}`

func TestARefusedRequestIsRepeatedWithANewKeyAndTheWholeBody(t *testing.T) {
	server, client := start(t, answerJSON(429, busy, "Retry-After", "0"), answerJSON(200, transcript))
	form := router.CreateTranscriptionForm{Audio: bytes.NewReader([]byte("RIFF"))}
	answer, err := router.New(client).CreateTranscription(context.Background(), form)
	if err != nil || answer.Text != "Hi." {
		t.Fatal(answer, err)
	}
	requests := server.received()
	if len(requests) != 2 || requests[0].key == "" || requests[0].key == requests[1].key {
		t.Fatal("the requests are", requests)
	}
	for _, request := range requests {
		parts := strings.Index(request.body, `name="request"`)
		if parts < 0 || strings.Index(request.body, "RIFF") < parts {
			t.Error("the parts are not in order:", request.body)
		}
	}
}

func TestARequestIsSentOnceIfARetryIsNotAllowed(t *testing.T) {
	speech := router.SpeechRequest{Input: "Hi."}
	cases := map[string]func(*router.Client) error{
		"the caller gave the key": func(client *router.Client) error {
			_, err := client.CreateSpeech(context.Background(), speech, parley.WithIdempotencyKey("mine"))
			return err
		},
		"the body can be read only once": func(client *router.Client) error {
			form := router.CreateTranscriptionForm{Audio: io.MultiReader(strings.NewReader("RIFF"))}
			_, err := client.CreateTranscription(context.Background(), form)
			return err
		},
	}
	for name, send := range cases {
		server, client := start(t, answerJSON(429, busy, "Retry-After", "0"))
		var failure *parley.APIError
		if err := send(router.New(client)); !errors.As(err, &failure) || failure.RequestID != "req_1" {
			t.Error(name, err)
		}
		if count := len(server.received()); count != 1 {
			t.Errorf("%s: %d requests", name, count)
		}
	}
}

func TestAnErrorThatIsNotRetryableOrAsksForALongPauseFailsAtOnce(t *testing.T) {
	final := strings.Replace(busy, "true", "false", 1)
	for _, answer := range [][2]string{{final, "0"}, {busy, "61"}} {
		server, client := start(t, answerJSON(429, answer[0], "Retry-After", answer[1]))
		_, err := router.New(client).ListModels(context.Background(), nil)
		var failure *parley.APIError
		if !errors.As(err, &failure) || failure.Code != "rate_limited" || len(server.received()) != 1 {
			t.Error(answer, err, len(server.received()))
		}
	}
}

func TestAClientWithoutAConnectionTriesAgainAndSaysSo(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	listener.Close()
	started := time.Now()
	_, err = router.New(parley.New(address, "key", parley.WithRetriesMax(1))).ListModels(context.Background(), nil)
	var connection *parley.ConnectionError
	if !errors.As(err, &connection) || connection.Sent {
		t.Fatal(err)
	}
	if paused := time.Since(started); paused < 200*time.Millisecond {
		t.Error("the pause was", paused)
	}
}

func TestAnAnswerWithoutAnEnvelopeIsAnAPIError(t *testing.T) {
	_, client := start(t, answerJSON(502, "<html>"))
	_, err := router.New(client).ListModels(context.Background(), nil)
	var failure *parley.APIError
	if !errors.As(err, &failure) || failure.StatusCode != 502 || failure.Code != "" || failure.Retryable {
		t.Fatal(err)
	}
}
