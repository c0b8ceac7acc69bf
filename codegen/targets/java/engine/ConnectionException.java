package dev.parley.client;

/** There is no answer, or only a part: the connection was never made, or was cut. */
public final class ConnectionException extends ParleyException {
    private static final long serialVersionUID = 1L;
    private final boolean isNeverMade;

    ConnectionException(String message, boolean isNeverMade, Throwable cause) {
        super(message, cause);
        this.isNeverMade = isNeverMade;
    }

    /** True if there was no connection, so that the server cannot have received the request. */
    public boolean isNeverMade() {
        return isNeverMade;
    }
}
