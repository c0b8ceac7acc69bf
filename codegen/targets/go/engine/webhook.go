package parley

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parley/internal/wire"
)

const (
	defaultTolerance = 5 * time.Minute
	// signaturesMax limits the work for one webhook. While the server replaces a secret, a webhook has two signatures.
	signaturesMax = 8
	keyBytesMin   = 24
	keyBytesMax   = 64
	// secretCharsMin is the contract's. Anybody can sign with an empty secret, such as that of a variable that is not set.
	secretCharsMin = 8
)

var errWebhookSecret = errors.New("parley: the secret of a webhook has at least 8 characters")

// WebhookError says why a webhook was refused.
type WebhookError struct {
	// Reason is header, timestamp, signature or body.
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
	tooShort := func(secret string) bool { return utf8.RuneCountInString(secret) < secretCharsMin }
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
			return checkBody(body)
		}
	}
	return &WebhookError{"signature"}
}

func checkBody(body []byte) error {
	if wire.KindOf(body) != wire.Object || !json.Valid(body) {
		return &WebhookError{"body"}
	}
	return nil
}

var secondsForm = regexp.MustCompile("^[0-9]{1,12}$")

func (v Verifier) isRecent(timestamp string) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || !secondsForm.MatchString(timestamp) {
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
	all := strings.Split(signatures, " ")
	for _, signature := range all[:min(len(all), signaturesMax)] {
		text, isCurrent := strings.CutPrefix(signature, "v1,")
		given := fromBase64(text)
		if isCurrent && given != nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}

// keyOf decodes a secret in the standard's form. Any other text is used unchanged.
func keyOf(secret string) []byte {
	text, isStandard := strings.CutPrefix(secret, "whsec_")
	key := fromBase64(text)
	if isStandard && len(key) >= keyBytesMin && len(key) <= keyBytesMax {
		return key
	}
	return []byte(secret)
}

// fromBase64 returns nil if the text is not valid. The decoder would ignore line ends.
func fromBase64(text string) []byte {
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil
	}
	return decoded
}
