package dev.parley.client;

import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Sends a request until the server answers it, or until it must not be sent again. To cancel this future ends the
 * running attempt.
 */
final class Sending<T> extends CompletableFuture<T> {
    private final Surface surface;
    private final Request request;
    private final boolean isStream;
    private final Function<Reply, T> read;
    private final CallOptions options;
    private final Duration timeout;
    private volatile CompletableFuture<?> running;

    Sending(Surface surface, Request request, CallOptions options, boolean isStream, Function<Reply, T> read) {
        this.surface = surface;
        this.request = request;
        this.isStream = isStream;
        this.read = read;
        this.options = options;
        this.timeout = options.timeout();
    }

    Sending<T> start() {
        attempt(0);
        return this;
    }

    @Override
    public boolean cancel(boolean mayInterrupt) {
        boolean isCancelled = super.cancel(mayInterrupt);
        CompletableFuture<?> current = running;
        if (isCancelled && current != null) current.cancel(true);
        return isCancelled;
    }

    private void attempt(int retry) {
        // If the connection is cut soon after the headers, the JDK fails the exchange. So a stream is complete here as
        // soon as its headers are there, and its reader gets the failure after the events.
        var reply = new CompletableFuture<Reply>();
        var exchange = surface.client.http.sendAsync(prepare(), Reply.handler(isStream, timeout, reply::complete));
        run(exchange);
        var timer = new CompletableFuture<Boolean>().completeOnTimeout(true, timeout.toMillis(), TimeUnit.MILLISECONDS);
        timer.thenRun(() -> exchange.cancel(true));
        exchange.whenComplete((response, failure) -> {
            if (failure == null) reply.complete(response.body());
            else reply.completeExceptionally(failure);
        });
        // The JDK's thread must go on, because the caller may read the stream at once.
        reply.whenCompleteAsync((answer, failure) -> {
            boolean isLate = !timer.cancel(false);
            if (failure != null) fail(retry, isLate ? new RequestTimeoutException(timeout) : typed(failure));
            else take(retry, answer);
        });
    }

    /** Keeps the future that a cancellation must end. */
    private void run(CompletableFuture<?> next) {
        running = next;
        if (isCancelled()) next.cancel(true);
    }

    private void take(int retry, Reply reply) {
        try {
            if (!reply.isSuccess()) fail(retry, surface.errorOf(reply));
            else if (!complete(read.apply(reply)) && reply.stream() != null) reply.stream().close();
        } catch (RuntimeException e) {
            completeExceptionally(e);
        }
    }

    private void fail(int retry, ParleyException failure) {
        boolean isOver = isDone() || retry >= surface.client.retriesMax || options.hasOneAttempt();
        Duration pause = isOver ? null : Retries.pauseBefore(retry, request, failure);
        if (pause == null) {
            completeExceptionally(failure);
            return;
        }
        var waiting = new CompletableFuture<Boolean>().completeOnTimeout(true, pause.toMillis(), TimeUnit.MILLISECONDS);
        run(waiting);
        waiting.thenRunAsync(() -> attempt(retry + 1)).exceptionally(unexpected -> {
            completeExceptionally(unexpected);
            return null;
        });
    }

    private static ParleyException typed(Throwable failure) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof ParleyException known) return known;
        return new ConnectionException("there is no answer: " + cause, Retries.isNeverMade(cause), cause);
    }

    private HttpRequest prepare() {
        var client = surface.client;
        URI address = URI.create(client.baseUrl + surface.contract.prefix() + request.address());
        var body = request.body();
        var builder = HttpRequest.newBuilder(address).method(request.method, body == null ? BodyPublishers.noBody() : body);
        builder.setHeader("User-Agent", client.userAgent);
        request.headers.forEach((name, value) -> builder.setHeader(surface.headerName(name), value));
        if (!request.isPublic && client.apiKey != null) builder.setHeader("Authorization", "Bearer " + client.apiKey);
        if (request.isIdempotent) builder.setHeader("Idempotency-Key", UUID.randomUUID().toString());
        options.headers().forEach(builder::setHeader);
        return builder.build();
    }
}
