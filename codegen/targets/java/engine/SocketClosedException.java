package dev.parley.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Set;

/** The server closed a socket with another code than 1000, or the connection was lost. */
public final class SocketClosedException extends ParleyException {
    private static final long serialVersionUID = 1L;
    /** Without an error code: the connection was lost, the server restarts, or the server has too much work. */
    private static final Set<Integer> RETRYABLE_CLOSES = Set.of(1006, 1012, 1013);
    private final int closeCode;
    private final String reason;
    private final String code;
    private final boolean isRetryable;

    private SocketClosedException(SocketListener.Closed closed, String code, boolean isRetryable, Throwable cause) {
        super("the socket closed with " + closed.code() + " " + (code.isEmpty() ? closed.reason() : code), cause);
        this.closeCode = closed.code();
        this.reason = closed.reason();
        this.code = code;
        this.isRetryable = isRetryable;
    }

    /** Takes the error code from the last error frame, or else from the close's reason. */
    static SocketClosedException of(Contract contract, SocketListener.Closed closed, JsonNode error, Throwable cause) {
        Set<String> codes = contract.closeCodes();
        String sent = error.path("code").asText("");
        boolean isSent = !sent.isEmpty() && (codes.contains(sent) || sent.equals(closed.reason()));
        String code = isSent ? sent : codes.contains(closed.reason()) ? closed.reason() : "";
        boolean isKnown = codes.contains(code);
        boolean isRetryable = isKnown ? contract.retryableCodes().contains(code) : RETRYABLE_CLOSES.contains(closed.code());
        if (isSent) isRetryable = error.path("retryable").asBoolean(isRetryable);
        return new SocketClosedException(closed, code, isRetryable, cause == null ? closed.cause() : cause);
    }

    /** Returns the close code of the WebSocket: 1006 if the connection was lost. */
    public int closeCode() {
        return closeCode;
    }

    /** Returns the text of the close. */
    public String reason() {
        return reason;
    }

    /** Returns the contract's error code. It is empty if the server sent no error before the close. */
    public String code() {
        return code;
    }

    /** True if a new socket with the same settings may succeed. */
    public boolean isRetryable() {
        return isRetryable;
    }
}
