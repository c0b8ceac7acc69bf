package dev.parley.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.HttpHeaders;

/** Any answer other than 2xx. */
public final class ApiException extends ParleyException {
    private static final long serialVersionUID = 1L;
    private final int status;
    private final String code;
    private final String type;
    private final String hint;
    private final String requestId;
    private final boolean isRetryable;
    private final transient HttpHeaders headers;
    private final transient JsonNode body;

    ApiException(int status, HttpHeaders headers, JsonNode body, ErrorBody error, String requestId) {
        super(error.describe(status), null);
        this.status = status;
        this.code = error.code();
        this.type = error.type();
        this.hint = error.hint();
        this.isRetryable = error.isRetryable();
        this.requestId = requestId;
        this.headers = headers;
        this.body = body;
    }

    /** Returns the HTTP status. */
    public int status() {
        return status;
    }

    /** Returns the error code, for programs. It is empty if something between client and server made the answer. */
    public String code() {
        return code;
    }

    /** Returns the kind of the error, such as rate_limit_error. It is empty if the answer does not have it. */
    public String type() {
        return type;
    }

    /** Returns how to correct the request. It is empty if the answer does not have it. The message ends with it. */
    public String hint() {
        return hint;
    }

    /** Returns the id of the request in the server's log. */
    public String requestId() {
        return requestId;
    }

    /** True if the same request may succeed when it is sent again. */
    public boolean isRetryable() {
        return isRetryable;
    }

    /** Returns the headers of the answer. */
    public HttpHeaders headers() {
        return headers;
    }

    /** Returns the whole body with all details. It is null if the body is not JSON. */
    public JsonNode body() {
        return body;
    }
}
