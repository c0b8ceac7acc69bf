package clienttest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"

	"parley"
	"parley/compat"
	"parley/platform"
	"parley/router"
)

func TestValuesOfLaterVersionsAreKept(t *testing.T) {
	body := `{"id": "r", "route": {}, "usage": {}, "stop_reason": "tired", "more": 1,
		"output": [{"type": "image", "url": "u"}, {"type": "message", "role": "assistant", "content": []}]}`
	_, client := start(t, answerJSON(200, body))
	answer, err := router.New(client).CreateResponse(context.Background(), router.LLMRequest{})
	if err != nil || answer.StopReason != "tired" || len(answer.Output) != 2 {
		t.Fatal(answer, err)
	}
	unknown, isUnknown := answer.Output[0].(router.Unknown)
	if _, isMessage := answer.Output[1].(router.OutputMessage); !isUnknown || !isMessage || !strings.Contains(string(unknown.JSON), "image") {
		t.Error("the output is", answer.Output)
	}
}

func TestAbsentNullAndPresentFieldsDifferInARequest(t *testing.T) {
	server, client := start(t, answerJSON(200, "{}"))
	change := platform.AgentChange{Voice: parley.Null[string](), FirstMessage: parley.Value("Hi.")}
	if _, err := platform.New(client).UpdateAgent(context.Background(), "a/b", change, nil); err != nil {
		t.Fatal(err)
	}
	request := server.received()[0]
	if request.path != "/v1/agents/a%2Fb" || request.body != `{"voice":null,"firstMessage":"Hi."}` {
		t.Error(request.path, request.body)
	}
}

func TestFurtherFieldsAndConstantsAreSent(t *testing.T) {
	message := compat.ChatMessage{Role: "user", Extra: map[string]any{"content": "Hi.", "role": "system"}}
	if text, err := json.Marshal(message); err != nil || string(text) != `{"content":"Hi.","role":"user"}` {
		t.Error(string(text), err)
	}
	item := router.InputMessage{Role: "user", Content: []router.InputText{{Text: "Hi."}}}
	text, err := json.Marshal(item)
	if err != nil || string(text) != `{"type":"message","role":"user","content":[{"type":"text","text":"Hi."}]}` {
		t.Error(string(text), err)
	}
}

func TestAListInTheQueryIsRepeatedAndAbsentParametersAreLeftOut(t *testing.T) {
	server, client := start(t, answerJSON(200, "{}"))
	params := &router.ListModelsParams{Language: parley.Ptr("en-US")}
	if _, err := router.New(client).ListModels(context.Background(), params); err != nil {
		t.Fatal(err)
	}
	if path := server.received()[0].path; path != "/router/v1/models?language=en-US" {
		t.Error(path)
	}
}

var (
	sentAt = time.Unix(1_800_000_000, 0)
	secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a secret with thirty-two bytes!!"))
	event  = `{"type": "call.report", "call_id": "c"}`
)

func signed(key string) http.Header {
	hash := hmac.New(sha256.New, []byte(key))
	timestamp := strconv.FormatInt(sentAt.Unix(), 10)
	hash.Write([]byte("id." + timestamp + "." + event))
	signature := "v1," + base64.StdEncoding.EncodeToString(hash.Sum(nil))
	return http.Header{
		"Webhook-Id": {"id"}, "Webhook-Timestamp": {timestamp}, "Webhook-Signature": {"v1,AAAA v2,x " + signature},
	}
}

func TestAWebhookIsAcceptedOnlyWithAFittingSignatureAndTime(t *testing.T) {
	good := signed("a secret with thirty-two bytes!!")
	for _, c := range []struct {
		header http.Header
		age    time.Duration
		reason string
	}{
		{good, 0, ""}, {good, 300 * time.Second, ""}, {good, -300 * time.Second, ""},
		{good, 301 * time.Second, "timestamp"}, {good, -301 * time.Second, "timestamp"},
		{signed("another secret"), 0, "signature"}, {http.Header{}, 0, "header"},
	} {
		now := func() time.Time { return sentAt.Add(c.age) }
		verifier := parley.Verifier{Secrets: []string{"whsec_b2xk", secret}, Now: now}
		received, err := platform.VerifyWebhook(verifier, c.header, []byte(event))
		reason := ""
		var refused *parley.WebhookError
		if errors.As(err, &refused) {
			reason = refused.Reason
		}
		if reason != c.reason {
			t.Errorf("%v: %v, expected %q", c.age, err, c.reason)
		}
		if report, isReport := received.(platform.ReportEvent); c.reason == "" && (!isReport || report.CallID != "c") {
			t.Error("the event is", received)
		}
	}
}

func TestASecretThatIsMissingOrShortIsAnErrorOfTheProgram(t *testing.T) {
	for _, secrets := range [][]string{nil, {""}, {"whsec_"}, {secret, ""}} {
		_, err := platform.VerifyWebhook(parley.Verifier{Secrets: secrets}, http.Header{}, []byte(event))
		var refused *parley.WebhookError
		if err == nil || errors.As(err, &refused) {
			t.Errorf("%q: %v", secrets, err)
		}
	}
}
