// Package clienttest tests the client for Go against servers that misbehave.
package clienttest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"parley"
)

// request is one request as the server received it.
type request struct {
	path, contentType, key, body string
}

// server gives its answers in order, one for each request, and then repeats the last answer.
type server struct {
	mutex    sync.Mutex
	answers  []http.HandlerFunc
	requests []request
}

func start(t *testing.T, answers ...http.HandlerFunc) (*server, *parley.Client) {
	t.Helper()
	s := &server{answers: answers}
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	return s, parley.New(listener.URL, "sk_test")
}

func (s *server) ServeHTTP(response http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mutex.Lock()
	answer := s.answers[min(len(s.requests), len(s.answers)-1)]
	key := r.Header.Get("Idempotency-Key")
	s.requests = append(s.requests, request{r.URL.RequestURI(), r.Header.Get("Content-Type"), key, string(body)})
	s.mutex.Unlock()
	answer(response, r)
}

func (s *server) received() []request {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.requests
}

func answerJSON(status int, body string, header ...string) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "application/json")
		for index := 0; index+1 < len(header); index += 2 {
			response.Header().Set(header[index], header[index+1])
		}
		response.WriteHeader(status)
		fmt.Fprint(response, body)
	}
}

func answerEvents(text string) http.HandlerFunc {
	return func(response http.ResponseWriter, _ *http.Request) {
		response.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(response, text)
	}
}

// busy is an answer that permits a retry.
const busy = `{"error": {"code": "rate_limited", "type": "rate_limit_error", "message": "Busy.", "hint": "Wait.",
	"retryable": true, "request_id": "req_1"}}`
