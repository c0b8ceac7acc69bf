package dev.parley.client;

import java.net.ConnectException;
import java.net.http.HttpConnectTimeoutException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import javax.net.ssl.SSLHandshakeException;

/**
 * Decides whether a failed request is sent again. The server runs no request twice, so a request is sent again only if
 * there was no connection, or if the server answered that the same request may succeed.
 */
final class Retries {
    /** The server can ask for a pause of at most a minute. */
    private static final Duration RETRY_AFTER_MAX = Duration.ofMinutes(1);
    private static final long FIRST_PAUSE_MS = 500;
    private static final long PAUSE_MS_MAX = 8_000;
    private static final Set<Integer> ALWAYS = Set.of(429, 502, 503);
    private static final Set<Integer> SAFE_METHODS_ONLY = Set.of(500, 504);
    private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "PUT", "DELETE");

    private Retries() {
    }

    /** Returns the pause before the retry with this number, from 0. Null if the request must not be sent again. */
    static Duration pauseBefore(int retry, Request request, ParleyException failure) {
        if (failure instanceof ConnectionException connection) return connection.isNeverMade() ? usualPause(retry) : null;
        if (!(failure instanceof ApiException error) || !error.isRetryable() || !request.isRepeatable()) return null;
        // The server sends this header if a provider has the request already.
        boolean mayHaveRun = SAFE_METHODS_ONLY.contains(error.status())
            || error.headers().firstValue("x-should-retry").filter("false"::equals).isPresent();
        boolean isKnown = ALWAYS.contains(error.status()) || SAFE_METHODS_ONLY.contains(error.status());
        if (!isKnown || mayHaveRun && !SAFE_METHODS.contains(request.method)) return null;
        Duration pause = error.headers().firstValue("Retry-After").map(Retries::parse).orElse(usualPause(retry));
        return pause.isNegative() || pause.compareTo(RETRY_AFTER_MAX) > 0 ? null : pause;
    }

    /** True if the connection was never made: name not found, refused, too slow, or without a TLS handshake. */
    static boolean isNeverMade(Throwable failure) {
        return failure instanceof ConnectException || failure instanceof HttpConnectTimeoutException
            || failure instanceof SSLHandshakeException;
    }

    /** Reads seconds or a date. Null if the text is neither. */
    private static Duration parse(String text) {
        if (text.matches("\\d{1,9}")) return Duration.ofSeconds(Long.parseLong(text));
        try {
            Duration until = Duration.between(ZonedDateTime.now(), ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME));
            return until.isNegative() ? Duration.ZERO : until;
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** The pause doubles with each retry. A random half keeps many clients from returning at the same moment. */
    private static Duration usualPause(int retry) {
        long pauseMs = Math.min(FIRST_PAUSE_MS << Math.min(retry, 10), PAUSE_MS_MAX);
        return Duration.ofMillis(pauseMs / 2 + ThreadLocalRandom.current().nextLong(pauseMs / 2));
    }
}
