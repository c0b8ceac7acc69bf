package dev.parley.client;

/** The server closed a socket with another code than 1000, or the connection was lost. */
public final class SocketClosedException extends ParleyException {
    private static final long serialVersionUID = 1L;
    private final int closeCode;
    private final String reason;
    private final boolean isRetryable;

    SocketClosedException(int closeCode, String reason, boolean isRetryable, Throwable cause) {
        super("the socket closed with " + closeCode + " " + reason, cause);
        this.closeCode = closeCode;
        this.reason = reason;
        this.isRetryable = isRetryable;
    }

    /** Returns the close code of the WebSocket: 1006 if the connection was lost. */
    public int closeCode() {
        return closeCode;
    }

    /** Returns the contract's error code, or an empty text if the server gave no reason. */
    public String code() {
        return reason;
    }

    /** True if a new socket with the same settings may succeed. */
    public boolean isRetryable() {
        return isRetryable;
    }
}
