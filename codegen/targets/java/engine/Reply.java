package dev.parley.client;

import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Duration;
import java.util.function.Consumer;

/** One answer. {@code stream} is null if the body was read as a whole, and {@code body} is null if not. */
record Reply(int status, HttpHeaders headers, byte[] body, BodyStream stream) {
    /** Only an answer with status 2xx is read as a stream. It is handed out as soon as its headers are there. */
    static HttpResponse.BodyHandler<Reply> handler(boolean isStream, Duration timeout, Consumer<Reply> begin) {
        return head -> {
            boolean isSuccess = head.statusCode() / 100 == 2;
            if (isStream && isSuccess) {
                var begun = new Reply(head.statusCode(), head.headers(), null, new BodyStream(timeout));
                begin.accept(begun);
                return BodySubscribers.mapping(begun.stream(), stream -> begun);
            }
            return BodySubscribers.mapping(new WholeBody(), body -> new Reply(head.statusCode(), head.headers(), body, null));
        };
    }

    boolean isSuccess() {
        return status / 100 == 2;
    }
}
