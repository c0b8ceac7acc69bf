package dev.parley.client;

import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.io.ByteArrayOutputStream;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Joins the pieces of frames. There is at most one frame that nobody has read, because the socket requests the next
 * frame only when it hands one out, so that a slow reader slows the server down.
 */
final class SocketListener implements WebSocket.Listener {
    /** One frame may have at most 16 MiB. */
    private static final int FRAME_BYTES_MAX = 16 << 20;

    /** A frame, the end of the socket, or a failure. */
    sealed interface Message {
    }

    record Text(byte[] json) implements Message {
    }

    record Binary(byte[] bytes) implements Message {
    }

    record Closed(int code, String reason, Throwable cause) implements Message {
    }

    record TooLong() implements Message {
    }

    final BlockingQueue<Message> messages = new LinkedBlockingQueue<>();
    volatile Closed closed;
    private final ByteArrayOutputStream pieces = new ByteArrayOutputStream();

    @Override
    public CompletionStage<?> onText(WebSocket connection, CharSequence piece, boolean isLast) {
        take(connection, piece.toString().getBytes(StandardCharsets.UTF_8), isLast, false);
        return null;
    }

    @Override
    public CompletionStage<?> onBinary(WebSocket connection, ByteBuffer piece, boolean isLast) {
        byte[] bytes = new byte[piece.remaining()];
        piece.get(bytes);
        take(connection, bytes, isLast, true);
        return null;
    }

    @Override
    public CompletionStage<?> onClose(WebSocket connection, int code, String reason) {
        close(new Closed(code, reason, null));
        return null;
    }

    @Override
    public void onError(WebSocket connection, Throwable failure) {
        close(new Closed(1006, "", failure));
    }

    void close(Closed message) {
        if (closed == null) closed = message;
        messages.add(message);
    }

    private void take(WebSocket connection, byte[] piece, boolean isLast, boolean isBinary) {
        pieces.writeBytes(piece);
        if (pieces.size() > FRAME_BYTES_MAX) {
            messages.add(new TooLong());
            connection.abort();
        } else if (!isLast) {
            connection.request(1);
        } else {
            byte[] whole = pieces.toByteArray();
            pieces.reset();
            messages.add(isBinary ? new Binary(whole) : new Text(whole));
        }
    }
}
