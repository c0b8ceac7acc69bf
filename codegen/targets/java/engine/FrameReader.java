package dev.parley.client;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Reads an event stream: lines end in LF, CR or CRLF, a blank line ends an event, and a colon starts a comment. */
final class FrameReader implements AutoCloseable {
    /** One event may have at most 16 MiB. */
    static final int EVENT_BYTES_MAX = 16 << 20;
    private static final String BYTE_ORDER_MARK = "\ufeff";

    private final InputStream body;
    private final InputStream bytes;
    private boolean isAfterCr;
    private int eventBytes;
    private String lastId;

    /** {@code lastId} is that of the stream before a cut, or null. */
    FrameReader(InputStream body, String lastId) {
        this.lastId = lastId;
        this.body = body;
        this.bytes = new BufferedInputStream(body);
    }

    /** Returns the id of the last whole event. Null if no event had an id. */
    String lastId() {
        return lastId;
    }

    /** Returns the next event with data. Null if the stream ends. */
    Frame next() {
        StringBuilder data = null;
        String event = "message";
        String id = lastId;
        eventBytes = 0;
        for (String line = line(); line != null; line = line()) {
            if (line.isEmpty()) {
                // The id counts only at the end of its event.
                lastId = id;
                if (data != null) return new Frame(id, event, data.toString());
                event = "message";
                eventBytes = 0;
                continue;
            }
            int colon = line.indexOf(':');
            String name = colon < 0 ? line : line.substring(0, colon);
            String value = colon < 0 ? "" : line.substring(colon + 1).replaceFirst("^ ", "");
            if (name.equals("event")) event = value;
            else if (name.equals("id")) id = value;
            else if (name.equals("data")) data = (data == null ? new StringBuilder() : data.append('\n')).append(value);
        }
        return null;
    }

    @Override
    public void close() {
        try {
            body.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a line without its end. Null if the stream ends, also in the middle of a line. */
    private String line() {
        var line = new ByteArrayOutputStream();
        for (int next = read(); next >= 0; next = read()) {
            boolean isSecondHalf = isAfterCr && next == '\n';
            isAfterCr = next == '\r';
            if (isSecondHalf) continue;
            if (next == '\r' || next == '\n') return text(line);
            line.write(next);
            if (++eventBytes > EVENT_BYTES_MAX)
                throw new ProtocolException("an event has more than " + EVENT_BYTES_MAX + " bytes", null);
        }
        return null;
    }

    private static String text(ByteArrayOutputStream line) {
        String text = line.toString(StandardCharsets.UTF_8);
        return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
    }

    private int read() {
        try {
            return bytes.read();
        } catch (IOException e) {
            throw new ConnectionException("the stream was cut", false, e);
        }
    }
}
