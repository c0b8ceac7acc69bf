package dev.parley.client;

/** The answer breaks the contract: a stream without its last event, a text that is not JSON, or one over a limit. */
public final class ProtocolException extends ParleyException {
    private static final long serialVersionUID = 1L;

    ProtocolException(String message, Throwable cause) {
        super(message, cause);
    }
}
