package dev.parley.client;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** The settings of one call. The names of headers are equal in any case of their letters. */
record CallOptions(Duration timeout, Map<String, String> headers) {
    CallOptions(Duration timeout) {
        this(timeout, Map.of());
    }

    CallOptions withTimeout(Duration timeout) {
        return new CallOptions(timeout, headers);
    }

    CallOptions withHeader(String name, String value) {
        Map<String, String> all = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        all.putAll(headers);
        all.put(name, value);
        return new CallOptions(timeout, all);
    }

    /** True if the caller chose the key. */
    boolean hasIdempotencyKey() {
        return headers.keySet().stream().anyMatch("Idempotency-Key"::equalsIgnoreCase);
    }
}
