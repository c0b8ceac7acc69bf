package dev.parley.client;

import com.fasterxml.jackson.databind.JsonNode;

/** The fields of an error's body: {@code {"error": {"code", "message"}}} or {@code {"error": "message", "code"}}. */
record ErrorBody(String code, String type, String message, String hint, String requestId, boolean isRetryable) {
    /** Reads a body. If the body does not say whether the error is retryable, the contract's table does. */
    static ErrorBody read(JsonNode body, Contract contract) {
        JsonNode error = body.path("error");
        JsonNode fields = error.isObject() ? error : body;
        String code = fields.path("code").asText("");
        String message = error.isTextual() ? error.asText() : fields.path("message").asText("");
        String type = fields.path("type").asText("");
        String hint = fields.path("hint").asText("");
        String requestId = fields.path("request_id").asText(body.path("requestId").asText(""));
        boolean isRetryable = fields.path("retryable").asBoolean(contract.retryableCodes().contains(code));
        return new ErrorBody(code, type, message, hint, requestId, isRetryable);
    }

    String describe(int status) {
        return (status + " " + code + ": " + message + " " + hint).strip();
    }
}
