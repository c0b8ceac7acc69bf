package dev.parley.client;

import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;

/** One answer. {@code stream} is null if the body was read as a whole, and {@code body} is null if not. */
record Reply(int status, HttpHeaders headers, byte[] body, BodyStream stream) {
    /** Only an answer with status 2xx is read as a stream. */
    static HttpResponse.BodyHandler<Reply> handler(boolean isStream, Duration timeout) {
        return head -> {
            boolean isSuccess = head.statusCode() / 100 == 2;
            if (isStream && isSuccess)
                return BodySubscribers.mapping(new BodyStream(timeout), stream -> new Reply(head.statusCode(), head.headers(), null, stream));
            return BodySubscribers.mapping(new WholeBody(), body -> new Reply(head.statusCode(), head.headers(), body, null));
        };
    }

    boolean isSuccess() {
        return status / 100 == 2;
    }
}
