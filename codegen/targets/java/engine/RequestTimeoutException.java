package dev.parley.client;

import java.time.Duration;

/** The server did not answer in time. It may have processed the request, so the client does not send it again. */
public final class RequestTimeoutException extends ParleyException {
    private static final long serialVersionUID = 1L;

    RequestTimeoutException(Duration timeout) {
        super("the server did not answer within " + timeout.toMillis() + " ms", null);
    }
}
