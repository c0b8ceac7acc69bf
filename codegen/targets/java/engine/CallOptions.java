package dev.parley.client;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** The settings of one call. The names of headers are equal in any case of their letters. */
record CallOptions(Duration timeout, Map<String, String> headers, boolean isOnce) {
    CallOptions(Duration timeout) {
        this(timeout, Map.of(), false);
    }

    CallOptions withTimeout(Duration timeout) {
        return new CallOptions(timeout, headers, isOnce);
    }

    /** The request is not sent again after a failure. */
    CallOptions once() {
        return new CallOptions(timeout, headers, true);
    }

    CallOptions withHeader(String name, String value) {
        Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        all.putAll(headers);
        all.put(name, value);
        return new CallOptions(timeout, all, isOnce);
    }

    /** True if there is one attempt, or if the caller chose the key. */
    boolean hasOneAttempt() {
        return isOnce || headers.keySet().stream().anyMatch("Idempotency-Key"::equalsIgnoreCase);
    }
}
