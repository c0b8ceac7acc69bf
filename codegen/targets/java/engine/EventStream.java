package dev.parley.client;

import java.net.http.HttpHeaders;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A stream of events. It is complete only after its last event: if the connection ends before, the loop throws a
 * ConnectionException. Use it in a try statement, which closes the connection if the loop is left early. Only one loop
 * may read a stream, and any thread may close it.
 */
public final class EventStream<T> implements Iterable<T>, AutoCloseable {
    private final HttpHeaders headers;
    private final Function<Frame, Decoded<T>> decode;
    private final Resumption resumption;
    private volatile FrameReader frames;
    private volatile boolean isOver;
    private T pending;

    /** A value, or null if the event has no value. The last event ends the stream. */
    record Decoded<T>(T value, boolean isLast) {
    }

    /** {@code resumption} is null if a cut stream cannot be opened again. */
    EventStream(Reply reply, Function<Frame, Decoded<T>> decode, Resumption resumption) {
        this.headers = reply.headers();
        this.frames = new FrameReader(reply.stream(), null);
        this.decode = decode;
        this.resumption = resumption;
    }

    /** Returns the headers of the answer. */
    public HttpHeaders headers() {
        return headers;
    }

    @Override
    public Iterator<T> iterator() {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                if (pending == null) pending = advance();
                return pending != null;
            }

            @Override
            public T next() {
                if (!hasNext()) throw new NoSuchElementException();
                T value = pending;
                pending = null;
                return value;
            }
        };
    }

    /** Returns the events as a Java stream, which must be closed too. */
    public Stream<T> stream() {
        var events = Spliterators.spliteratorUnknownSize(iterator(), Spliterator.ORDERED | Spliterator.NONNULL);
        return StreamSupport.stream(events, false).onClose(this::close);
    }

    /** Closes the connection. The server stops if it has not sent all events. */
    @Override
    public void close() {
        isOver = true;
        if (resumption != null) resumption.close();
        frames.close();
    }

    /** Returns the next value. Null after the last event. */
    private T advance() {
        try {
            while (!isOver) {
                Frame frame = frame();
                if (resumption != null && !resumption.isNew(frame)) continue;
                Decoded<T> decoded = decode.apply(frame);
                if (decoded.isLast()) close();
                if (decoded.value() != null) return decoded.value();
            }
            return null;
        } catch (RuntimeException failure) {
            close();
            throw failure;
        }
    }

    private Frame frame() {
        while (true) {
            ParleyException cut;
            try {
                Frame frame = frames.next();
                if (frame != null) return frame;
                cut = new ConnectionException("the stream ended before its last event", false, null);
            } catch (ConnectionException | RequestTimeoutException failure) {
                cut = failure;
            }
            frames.close();
            if (resumption == null) throw cut;
            String lastId = frames.lastId();
            frames = new FrameReader(resumption.open(lastId, cut), lastId);
            // Another thread may have closed the stream in the meantime.
            if (isOver) frames.close();
        }
    }
}
