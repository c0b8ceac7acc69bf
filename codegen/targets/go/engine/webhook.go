package parley

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	defaultTolerance = 5 * time.Minute
	// signaturesMax limits the work for one webhook. While the server replaces a secret, a webhook has two signatures.
	signaturesMax = 8
	keyBytesMin   = 24
	keyBytesMax   = 64
	// secretBytesMin is the contract's. Anybody can sign with an empty secret, such as that of a variable that is not set.
	secretBytesMin = 8
)

var errWebhookSecret = errors.New("parley: the secret of a webhook has at least 8 characters")

// WebhookError says why a webhook was refused.
type WebhookError struct {
	// Reason is header, timestamp or signature.
	Reason string
}

func (e *WebhookError) Error() string { return "parley: the webhook's " + e.Reason + " is not valid" }

// Verifier checks that webhooks come from the server that has one of the secrets (Standard Webhooks 1.0).
type Verifier struct {
	// Secrets are the current secret and, while it is replaced, the one before.
	Secrets []string
	// Tolerance is the limit for the age of a webhook. Zero means 5 minutes.
	Tolerance time.Duration
	// Now returns the present. Nil means time.Now.
	Now func() time.Time
}

// Verify returns a *WebhookError unless a signature fits a secret and the webhook is recent. The signature covers the
// exact bytes of the body, so the body must not be parsed and written again before. If a secret is missing or shorter
// than 8 characters, the error is another one.
func (v Verifier) Verify(header http.Header, body []byte) error {
	tooShort := func(secret string) bool { return len(secret) < secretBytesMin }
	if len(v.Secrets) == 0 || slices.ContainsFunc(v.Secrets, tooShort) {
		return errWebhookSecret
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	signatures := header.Get("webhook-signature")
	if id == "" || timestamp == "" || signatures == "" {
		return &WebhookError{"header"}
	}
	if !v.isRecent(timestamp) {
		return &WebhookError{"timestamp"}
	}
	message := append([]byte(id+"."+timestamp+"."), body...)
	for _, secret := range v.Secrets {
		if isSigned(message, secret, signatures) {
			return nil
		}
	}
	return &WebhookError{"signature"}
}

func (v Verifier) isRecent(timestamp string) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	tolerance, now := v.Tolerance, time.Now
	if tolerance == 0 {
		tolerance = defaultTolerance
	}
	if v.Now != nil {
		now = v.Now
	}
	return now().Sub(time.Unix(seconds, 0)).Abs() <= tolerance
}

func isSigned(message []byte, secret, signatures string) bool {
	hash := hmac.New(sha256.New, keyOf(secret))
	hash.Write(message)
	expected := hash.Sum(nil)
	all := strings.Fields(signatures)
	for _, signature := range all[:min(len(all), signaturesMax)] {
		text, isCurrent := strings.CutPrefix(signature, "v1,")
		given, err := base64.StdEncoding.DecodeString(text)
		if isCurrent && err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

// keyOf decodes a secret in the standard's form. Any other text is used unchanged.
func keyOf(secret string) []byte {
	text, isStandard := strings.CutPrefix(secret, "whsec_")
	key, err := base64.StdEncoding.DecodeString(text)
	if isStandard && err == nil && len(key) >= keyBytesMin && len(key) <= keyBytesMax {
		return key
	}
	return []byte(secret)
}
