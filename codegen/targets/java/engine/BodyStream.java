package dev.parley.client;

import java.io.InputStream;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * The bytes of an answer while the server sends them. A new piece is requested only when the last one was read, so that
 * a slow reader slows the server down. Each read may take at most the timeout.
 */
final class BodyStream extends InputStream implements BodySubscriber<BodyStream> {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    /** Pieces, and at the end a failure or END. There is at most one piece, because only one is requested at a time. */
    private final BlockingQueue<Object> pieces = new LinkedBlockingQueue<>();
    private final Duration timeout;
    private volatile Flow.Subscription subscription;
    private volatile boolean isClosed;
    private Iterator<ByteBuffer> buffers = List.<ByteBuffer>of().iterator();
    private ByteBuffer current = EMPTY;
    private boolean isOver;

    private enum Mark { END, CLOSED }

    BodyStream(Duration timeout) {
        this.timeout = timeout;
    }

    @Override
    public CompletionStage<BodyStream> getBody() {
        return CompletableFuture.completedFuture(this);
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        if (isClosed) subscription.cancel();
        else subscription.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> piece) {
        pieces.add(piece);
    }

    @Override
    public void onError(Throwable failure) {
        pieces.add(failure);
    }

    @Override
    public void onComplete() {
        pieces.add(Mark.END);
    }

    @Override
    public int read() {
        return fill() ? current.get() & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
        if (length == 0) return 0;
        if (!fill()) return -1;
        int count = Math.min(length, current.remaining());
        current.get(target, offset, count);
        return count;
    }

    /** Ends the request if the server has not sent all bytes. */
    @Override
    public void close() {
        isClosed = true;
        if (subscription != null) subscription.cancel();
        pieces.add(Mark.CLOSED);
    }

    /** Waits for bytes. False at the end. */
    private boolean fill() {
        while (!current.hasRemaining()) {
            if (isOver) return false;
            if (buffers.hasNext()) current = buffers.next();
            else take();
        }
        return true;
    }

    @SuppressWarnings("unchecked")
    private void take() {
        Object piece = isClosed ? Mark.CLOSED : poll();
        if (piece instanceof List<?>) {
            buffers = ((List<ByteBuffer>) piece).iterator();
            subscription.request(1);
        } else if (piece == Mark.END) {
            isOver = true;
        } else if (piece == Mark.CLOSED) {
            throw new CancellationException("the stream was closed");
        } else {
            close();
            throw piece == null ? new RequestTimeoutException(timeout)
                : new ConnectionException("the answer was cut", false, (Throwable) piece);
        }
    }

    private Object poll() {
        try {
            return pieces.poll(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            close();
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread was interrupted");
        }
    }
}
