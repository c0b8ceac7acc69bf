package dev.parley.client;

/** A webhook was refused. */
public final class WebhookException extends ParleyException {
    private static final long serialVersionUID = 1L;
    private final String reason;

    WebhookException(String reason) {
        this(reason, null);
    }

    WebhookException(String reason, Throwable cause) {
        super("the webhook's " + reason + " is not valid", cause);
        this.reason = reason;
    }

    /** Returns the invalid part: header, timestamp, signature or body. */
    public String reason() {
        return reason;
    }
}
