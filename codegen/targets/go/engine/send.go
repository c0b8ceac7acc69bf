package parley

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"parley/internal/wire"
)

// Surface is a contract of a server. The generated packages have a Surface and send their requests with it.
type Surface struct {
	client *Client
	// Prefix is the path before the paths of the contract.
	Prefix string
	// ErrorRows returns what the contract says about an error code. Nil if error bodies say it all.
	ErrorRows func(code string) (ErrorRow, bool)
}

// On returns the surface with the settings of a client.
func (s Surface) On(client *Client) Surface {
	s.client = client
	return s
}

// keyHeader is not in the usual spelling, because net/http repeats requests with that header, but no key may be sent
// twice.
const keyHeader = "idempotency-key"

// answer is an answer with status 2xx.
type answer struct {
	*http.Response
	deadline deadline
}

// settle ends the deadline of the whole answer. From now on each read has the same limit.
func (a *answer) settle() {
	a.deadline.timer.Stop()
	a.Body = timedBody{a.Body, a.deadline}
}

// stop ends the request.
func (a *answer) stop() { a.deadline.stop() }

// send sends a request, and repeats it if the failure permits it.
func (s Surface) send(ctx context.Context, request Request, settings *callSettings) (*answer, error) {
	for retry := 0; ; retry++ {
		answer, err := s.attempt(ctx, request, settings)
		if err == nil || retry >= settings.retriesMax || (request.body != nil && !request.body.isRepeatable()) {
			return answer, err
		}
		pause, isAllowed := pauseBefore(retry, err, request.method)
		if !isAllowed {
			return nil, err
		}
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
	}
}

func (s Surface) attempt(ctx context.Context, request Request, settings *callSettings) (*answer, error) {
	ctx, deadline := startDeadline(ctx, settings.timeout)
	ctx, route := traceRoute(ctx)
	prepared, err := s.prepare(ctx, request, settings)
	if err != nil {
		deadline.stop()
		return nil, err
	}
	response, err := s.client.http.Do(prepared)
	if err != nil {
		defer deadline.stop()
		if ctx.Err() == nil && route.isMissing() {
			return nil, &ConnectionError{Sent: false, Err: err}
		}
		return nil, connectionError(ctx, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer deadline.stop()
		defer response.Body.Close()
		return nil, s.readError(response)
	}
	return &answer{response, deadline}, nil
}

// connectionError returns the caller's reason if the caller ended the request.
func connectionError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	}
	return &ConnectionError{Sent: !isNeverSent(err), Err: err}
}

func (s Surface) prepare(ctx context.Context, request Request, settings *callSettings) (*http.Request, error) {
	query, header, err := wire.Params(request.params)
	if err != nil {
		return nil, err
	}
	if request.lastEventID != "" {
		// The server ignores the header if there is a cursor.
		query.Del("cursor")
		header.Set("Last-Event-ID", request.lastEventID)
	}
	address := s.client.baseURL + s.Prefix + request.path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	prepared, err := http.NewRequestWithContext(ctx, request.method, address, nil)
	if err != nil {
		return nil, err
	}
	s.setHeaders(prepared, request, header, settings)
	if request.body == nil {
		return prepared, nil
	}
	return prepared, setBody(prepared, request.body)
}

func (s Surface) setHeaders(prepared *http.Request, request Request, header http.Header, settings *callSettings) {
	for name, values := range header {
		prepared.Header[s.client.headerName(name)] = values
	}
	prepared.Header.Set("User-Agent", s.client.userAgent)
	if request.accept != "" {
		prepared.Header.Set("Accept", request.accept)
	}
	if !request.isPublic && s.client.apiKey != "" {
		prepared.Header.Set("Authorization", "Bearer "+s.client.apiKey)
	}
	if request.isIdempotent {
		prepared.Header[keyHeader] = []string{newKey()}
	}
	for name, values := range settings.header {
		prepared.Header[name] = values
	}
}

// setBody makes the body readable more than once, because net/http repeats a request if an idle connection ended
// before the first byte was written.
func setBody(prepared *http.Request, body Body) error {
	opened, err := body.open()
	if err != nil {
		return errors.Join(err, opened.Close())
	}
	prepared.Body, prepared.ContentLength = opened, body.length()
	if prepared.Header.Get("Content-Type") == "" {
		prepared.Header.Set("Content-Type", body.contentType())
	}
	if body.isRepeatable() {
		prepared.GetBody = body.open
	}
	return nil
}

var serviceHeader = regexp.MustCompile("(?i)^(x-)?service-")

// headerName puts the server's prefix in the place of "Service".
func (c *Client) headerName(name string) string {
	return http.CanonicalHeaderKey(serviceHeader.ReplaceAllString(name, "${1}"+c.headerPrefix+"-"))
}

// newKey returns a random UUID.
func newKey() string {
	var bytes [16]byte
	_, _ = rand.Read(bytes[:])
	bytes[6], bytes[8] = bytes[6]&0x0f|0x40, bytes[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", bytes[0:4], bytes[4:6], bytes[6:8], bytes[8:10], bytes[10:])
}
