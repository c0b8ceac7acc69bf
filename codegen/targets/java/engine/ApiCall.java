package dev.parley.client;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;

/**
 * The call of an operation. It is sent by {@link #execute}, which waits for the answer, or by {@link #executeAsync}.
 * The other methods return a call with another setting.
 */
public final class ApiCall<T> {
    private final Function<CallOptions, CompletableFuture<T>> sender;
    private final CallOptions options;

    ApiCall(CallOptions options, Function<CallOptions, CompletableFuture<T>> sender) {
        this.options = options;
        this.sender = sender;
    }

    /** Replaces the timeout of the client. */
    public ApiCall<T> timeout(Duration timeout) {
        return new ApiCall<>(options.withTimeout(timeout), sender);
    }

    /** Adds a header, such as the Content-Type of raw audio. */
    public ApiCall<T> header(String name, String value) {
        return new ApiCall<>(options.withHeader(name, value), sender);
    }

    /** Sends this key. Such a request is never sent again, because the server runs a key at most once. */
    public ApiCall<T> idempotencyKey(String key) {
        return header("Idempotency-Key", key);
    }

    /** Sends the request, and waits for the answer. If the thread is interrupted, the request is cancelled. */
    public T execute() {
        return await(executeAsync());
    }

    /** Sends the request. To cancel the future ends the request. */
    public CompletableFuture<T> executeAsync() {
        return sender.apply(options);
    }

    static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get();
        } catch (InterruptedException e) {
            future.cancel(true);
            Thread.currentThread().interrupt();
            throw new CancellationException("the thread was interrupted");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException known) throw known;
            throw new ParleyException("the request failed", e.getCause());
        }
    }
}
