// Package parley is the client for a Parley server. It holds the connection's settings, the errors, streams, sockets
// and the verification of webhooks. The operations are in the packages router, compat and platform, and the sockets
// in realtime and session.
package parley

import (
	"net/http"
	"os"
	"strings"
	"time"
)

// Version is the version of this module. It is part of the header User-Agent.
const Version = "0.1.0"

const (
	defaultTimeout      = 5 * time.Minute
	defaultRetriesMax   = 2
	defaultHeaderPrefix = "Service"
)

// Client has the settings of a connection. All surfaces share a Client, and it is safe for concurrent use.
type Client struct {
	baseURL      string
	apiKey       string
	userAgent    string
	headerPrefix string
	http         *http.Client
	timeout      time.Duration
	retriesMax   int
}

// Option changes a setting of a Client.
type Option func(*Client)

// New returns a Client for a server's address, such as http://127.0.0.1:8080, and an API key of that server. If the key
// is empty, the client takes the environment variable PARLEY_API_KEY.
func New(baseURL, apiKey string, options ...Option) *Client {
	client := &Client{
		baseURL:      strings.TrimRight(baseURL, "/"),
		apiKey:       apiKey,
		userAgent:    "parley-go/" + Version,
		headerPrefix: defaultHeaderPrefix,
		http:         http.DefaultClient,
		timeout:      defaultTimeout,
		retriesMax:   defaultRetriesMax,
	}
	if apiKey == "" {
		client.apiKey = os.Getenv("PARLEY_API_KEY")
	}
	for _, option := range options {
		option(client)
	}
	client.http = withoutRedirects(client.http)
	return client
}

// withoutRedirects returns a copy of the client, because a redirect would carry the key to another place, and can turn
// a POST into a GET.
func withoutRedirects(client *http.Client) *http.Client {
	changed := *client
	changed.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &changed
}

// WithAPIKey returns a copy of the client with another credential, such as the token of a session.
func (c *Client) WithAPIKey(apiKey string) *Client {
	changed := *c
	changed.apiKey = apiKey
	return &changed
}

// WithHTTPClient sets the HTTP client, for example to use a proxy. Its Timeout would also cut streams, so use
// WithTimeout instead.
func WithHTTPClient(client *http.Client) Option {
	return func(c *Client) { c.http = client }
}

// WithTimeout limits the time until an answer is complete, for each attempt. If the answer is a stream or audio, it
// limits the time until the answer begins, and then the time of each read. The default is 5 minutes.
func WithTimeout(timeout time.Duration) Option {
	return func(c *Client) { c.timeout = timeout }
}

// WithRetriesMax sets how often a request is sent again after a failure that permits it. The default is 2.
func WithRetriesMax(retries int) Option {
	return func(c *Client) { c.retriesMax = retries }
}

// WithUserAgent adds the name of a program to the header User-Agent.
func WithUserAgent(name string) Option {
	return func(c *Client) { c.userAgent = name + " " + c.userAgent }
}

// WithHeaderPrefix sets the word that replaces "Service" in the names of headers and in the subprotocols of sockets, if
// the server has one.
func WithHeaderPrefix(prefix string) Option {
	return func(c *Client) { c.headerPrefix = prefix }
}

// callSettings are the settings of one call.
type callSettings struct {
	header     http.Header
	timeout    time.Duration
	retriesMax int
}

// CallOption changes a setting of one call.
type CallOption func(*callSettings)

// WithIdempotencyKey sends a request with this key. Such a request is never repeated, because the server runs a key
// at most once.
func WithIdempotencyKey(key string) CallOption {
	return func(s *callSettings) { s.header[keyHeader], s.retriesMax = []string{key}, 0 }
}

// WithHeader adds a header to a request. An Idempotency-Key has the effect of WithIdempotencyKey.
func WithHeader(name, value string) CallOption {
	if strings.EqualFold(name, keyHeader) {
		return WithIdempotencyKey(value)
	}
	return func(s *callSettings) { s.header.Add(name, value) }
}

// WithCallTimeout replaces the client's timeout.
func WithCallTimeout(timeout time.Duration) CallOption {
	return func(s *callSettings) { s.timeout = timeout }
}

func (c *Client) settings(options []CallOption) *callSettings {
	settings := &callSettings{header: http.Header{}, timeout: c.timeout, retriesMax: c.retriesMax}
	for _, option := range options {
		option(settings)
	}
	return settings
}
