package dev.parley.client;

/** Any failure of this client. The subclasses tell the reasons apart. */
public class ParleyException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ParleyException(String message, Throwable cause) {
        super(message, cause);
    }
}
