package dev.parley.client;

import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.net.http.WebSocketHandshakeException;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** One contract of sockets with the settings of a connection. The generated clients extend it. */
public abstract class SocketSurface extends Surface {
    private static final Duration CONNECT_MAX = ParleyClient.CONNECT_MAX;

    /** Makes the client of a contract. */
    protected SocketSurface(ParleyClient client, Contract contract) {
        super(client, contract);
    }

    /** Opens a socket. The request has its address and query. */
    protected final <S, R> ApiCall<Socket<S, R>> open(Request request, String subprotocol, Class<R> received) {
        return new ApiCall<>(new CallOptions(client.timeout), options -> connect(request, subprotocol, received, options));
    }

    private <S, R> CompletableFuture<Socket<S, R>> connect(
        Request request, String subprotocol, Class<R> received, CallOptions options) {
        var listener = new SocketListener();
        Duration limit = options.timeout().compareTo(CONNECT_MAX) < 0 ? options.timeout() : CONNECT_MAX;
        var builder = client.http.newWebSocketBuilder().connectTimeout(limit).header("User-Agent", client.userAgent);
        if (client.apiKey != null) builder.header("Authorization", "Bearer " + client.apiKey);
        options.headers().forEach(builder::header);
        builder.subprotocols(subprotocol.replaceFirst("^service\\.", client.headerPrefix.toLowerCase(Locale.ROOT) + "."));
        URI address = URI.create(client.baseUrl.replaceFirst("^http", "ws") + contract.prefix() + request.address());
        return builder.buildAsync(address, listener).handle((connection, failure) -> {
            if (failure != null) throw refusal(failure, limit);
            return new Socket<>(connection, listener, contract, received, options.timeout());
        });
    }

    /** Java shows the status of a refused upgrade, but not its body. */
    private ParleyException refusal(Throwable failure, Duration limit) {
        Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
        if (cause instanceof WebSocketHandshakeException refused && refused.getResponse() != null)
            return errorOf(new Reply(refused.getResponse().statusCode(), refused.getResponse().headers(), new byte[0], null));
        if (cause instanceof HttpTimeoutException) return new RequestTimeoutException(limit);
        return new ConnectionException("the socket could not be opened: " + cause, Retries.isNeverMade(cause), cause);
    }
}
