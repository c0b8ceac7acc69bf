package dev.parley.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BinaryNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.parley.client.SocketListener.Binary;
import dev.parley.client.SocketListener.Closed;
import dev.parley.client.SocketListener.Text;
import dev.parley.client.SocketListener.TooLong;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A typed socket. One thread may read while others send. If the server closes the socket with another code than 1000,
 * or the connection is lost, the loop over the frames throws a SocketClosedException.
 *
 * @param <S> the frames of the client
 * @param <R> the frames of the server
 */
public final class Socket<S, R> implements Iterable<R>, AutoCloseable {
    private static final int NORMAL_CLOSE = 1000;
    private static final int LOST = 1006;
    /** The server has this time to answer a close. */
    private static final long CLOSE_SECONDS_MAX = 5;

    private final WebSocket connection;
    private final SocketListener listener;
    private final Contract contract;
    private final Class<R> received;
    private final Duration timeout;
    private volatile boolean isClosedByCaller;
    private boolean isFirst = true;
    private boolean isOver;
    private R pending;
    /** The last error frame. */
    private volatile JsonNode error = MissingNode.getInstance();

    Socket(WebSocket connection, SocketListener listener, Contract contract, Class<R> received, Duration timeout) {
        this.connection = connection;
        this.listener = listener;
        this.contract = contract;
        this.received = received;
        this.timeout = timeout;
    }

    /** A frame of bytes, such as audio. */
    public interface BinaryFrame extends Wrapper<byte[]> {
    }

    /** Sends a frame. Waits if the network is slower than the caller. */
    public synchronized void send(S frame) {
        if (listener.closed != null || isClosedByCaller) throw closedError(null);
        try {
            CompletableFuture<WebSocket> sent = frame instanceof BinaryFrame binary
                ? connection.sendBinary(ByteBuffer.wrap(binary.value()), true)
                : connection.sendText(new String(Json.write(contract.json(), frame), UTF_8), true);
            sent.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            connection.abort();
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread was interrupted");
        } catch (TimeoutException e) {
            connection.abort();
            throw new RequestTimeoutException(timeout);
        } catch (ExecutionException e) {
            throw closedError(e.getCause());
        }
    }

    @Override
    public Iterator<R> iterator() {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                if (pending == null && !isOver) pending = take();
                return pending != null;
            }

            @Override
            public R next() {
                if (!hasNext()) throw new NoSuchElementException();
                R frame = pending;
                pending = null;
                return frame;
            }
        };
    }

    /** Closes the socket with the code 1000. A loop over the frames ends. */
    @Override
    public void close() {
        if (isClosedByCaller) return;
        isClosedByCaller = true;
        listener.close(new Closed(NORMAL_CLOSE, "", null));
        connection.request(Long.MAX_VALUE);
        if (!connection.isOutputClosed()) connection.sendClose(NORMAL_CLOSE, "");
        CompletableFuture.delayedExecutor(CLOSE_SECONDS_MAX, TimeUnit.SECONDS).execute(connection::abort);
    }

    /** Returns the next frame. Null if the socket closed with 1000. */
    private R take() {
        if (!isFirst) connection.request(1);
        isFirst = false;
        SocketListener.Message message = next();
        if (isClosedByCaller) isOver = true;
        else if (message instanceof Text text) return decode(text.json());
        else if (message instanceof Binary binary)
            return Json.arm(contract.json(), received, Union.BINARY, BinaryNode.valueOf(binary.bytes()));
        else if (message instanceof TooLong) throw fail(new ProtocolException("a frame has more than 16 MiB", null));
        else if (message instanceof Closed closed && closed.code() != NORMAL_CLOSE) throw fail(closedError(null));
        isOver = true;
        return null;
    }

    private SocketListener.Message next() {
        try {
            return listener.messages.take();
        } catch (InterruptedException e) {
            connection.abort();
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread was interrupted");
        }
    }

    private R decode(byte[] json) {
        try {
            JsonNode node = Json.tree(contract.json(), json);
            if (!node.isObject()) throw new ProtocolException("a frame is not a JSON object", null);
            keepError(node);
            return Json.convert(contract.json(), node, contract.json().constructType(received));
        } catch (ProtocolException failure) {
            throw fail(failure);
        }
    }

    /** An error that is not fatal leaves the socket open. The channel like OpenAI's has the fields in {@code error}. */
    private void keepError(JsonNode frame) {
        if (!frame.path("type").asText().equals("error") || !frame.path("fatal").asBoolean(true)) return;
        error = frame.path("error").isObject() ? frame.path("error") : frame;
    }

    private ParleyException fail(ParleyException failure) {
        isOver = true;
        connection.abort();
        return failure;
    }

    private SocketClosedException closedError(Throwable cause) {
        Closed closed = listener.closed == null ? new Closed(LOST, "", cause) : listener.closed;
        return SocketClosedException.of(contract, closed, error, cause);
    }
}
