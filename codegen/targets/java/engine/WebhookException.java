package dev.parley.client;

/** A webhook was refused. */
public final class WebhookException extends ParleyException {
    private static final long serialVersionUID = 1L;
    private final String reason;

    WebhookException(String reason) {
        super("the webhook's " + reason + " is not valid", null);
        this.reason = reason;
    }

    /** Returns the invalid part: header, timestamp or signature. */
    public String reason() {
        return reason;
    }
}
