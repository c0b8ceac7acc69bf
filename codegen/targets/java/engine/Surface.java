package dev.parley.client;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import dev.parley.client.EventStream.Decoded;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

/** One contract of a server with the settings of a connection. The generated clients extend it. */
public abstract class Surface {
    final ParleyClient client;
    final Contract contract;

    /** Makes the client of a contract. */
    protected Surface(ParleyClient client, Contract contract) {
        this.client = client;
        this.contract = contract;
    }

    /** Makes a request. Each of the arguments replaces a parameter of the path. */
    protected final Request request(String method, String path, String... arguments) {
        return new Request(contract.json(), method, path, arguments);
    }

    /** Sends a request whose answer is JSON. */
    protected final <T> ApiCall<T> json(Request request, Class<T> type) {
        return json(request, contract.json().constructType(type));
    }

    /** Sends a request whose answer is a list in JSON. */
    protected final <T> ApiCall<List<T>> jsonList(Request request, Class<T> itemType) {
        return json(request, contract.json().getTypeFactory().constructCollectionType(List.class, itemType));
    }

    private <T> ApiCall<T> json(Request request, JavaType type) {
        return whole(request.accept("application/json"), reply -> Json.read(contract.json(), reply.body(), type));
    }

    /** Sends a request whose answer is text. */
    protected final ApiCall<String> text(Request request) {
        return whole(request, reply -> new String(reply.body(), StandardCharsets.UTF_8));
    }

    /** Sends a request whose answer has no body. */
    protected final ApiCall<Void> empty(Request request) {
        return whole(request, reply -> null);
    }

    /** Sends a request whose answer is bytes. */
    protected final ApiCall<Download> bytes(Request request) {
        return call(request, true, reply -> new Download(reply.headers(), reply.stream()));
    }

    /** Sends a request whose answer is a stream of events with names. A terminal event is the last. */
    protected final <T> ApiCall<EventStream<Event<T>>> events(Request request, Class<T> type, String... terminal) {
        List<String> last = List.of(terminal);
        return stream(request, (reply, frame) -> {
            T data = Json.arm(contract.json(), type, frame.event(), jsonOf(frame));
            return new Decoded<>(new Event<>(frame.event(), frame.id(), data), last.contains(frame.event()));
        });
    }

    /**
     * Sends a request whose answer is a stream of values. The last value has one of the types, or [DONE] follows it.
     */
    protected final <T> ApiCall<EventStream<T>> data(Request request, Class<T> type, String... terminal) {
        JavaType javaType = contract.json().constructType(type);
        List<String> last = List.of(terminal);
        return stream(request, (reply, frame) -> {
            if (frame.data().equals("[DONE]")) return new Decoded<>(null, true);
            JsonNode node = jsonOf(frame);
            if (node.hasNonNull("error")) throw errorOf(reply, node);
            T value = Json.convert(contract.json(), node, javaType);
            return new Decoded<>(value, last.contains(node.path("type").asText()));
        });
    }

    private <T> ApiCall<EventStream<T>> stream(Request request, BiFunction<Reply, Frame, Decoded<T>> decode) {
        request.accept("text/event-stream");
        return new ApiCall<>(new CallOptions(client.timeout), options -> new Sending<>(this, request, options, true, reply ->
            new EventStream<T>(reply, frame -> decode.apply(reply, frame), resumption(request, options))).start());
    }

    /** Returns null if a cut stream cannot be opened again. Each attempt to open it is one request. */
    private Resumption resumption(Request request, CallOptions options) {
        if (request.identity == null) return null;
        return new Resumption(request.identity, id ->
            new Sending<>(this, request.after(id), options.once(), true, Reply::stream).start(), this::jsonOf);
    }

    private <T> ApiCall<T> whole(Request request, Function<Reply, T> read) {
        return call(request, false, read);
    }

    private <T> ApiCall<T> call(Request request, boolean isStream, Function<Reply, T> read) {
        return new ApiCall<>(new CallOptions(client.timeout), options ->
            new Sending<>(this, request, options, isStream, read).start());
    }

    private JsonNode jsonOf(Frame frame) {
        return Json.tree(contract.json(), frame.data().getBytes(StandardCharsets.UTF_8));
    }

    ApiException errorOf(Reply reply) {
        return errorOf(reply, Json.treeOrMissing(contract.json(), reply.body()));
    }

    private ApiException errorOf(Reply reply, JsonNode body) {
        ErrorBody error = ErrorBody.read(body, contract);
        String requestId = reply.headers().firstValue(headerName("Service-Request-ID")).orElse(error.requestId());
        return new ApiException(reply.status(), reply.headers(), body.isMissingNode() ? null : body, error, requestId);
    }

    /** Puts the server's prefix in the place of "Service". */
    String headerName(String name) {
        return name.replaceFirst("(?i)^(x-)?service-", "$1" + client.headerPrefix + "-");
    }

    /** Reads the body of a webhook. */
    protected static <T> T read(Contract contract, byte[] body, Class<T> type) {
        try {
            return Json.read(contract.json(), body, contract.json().constructType(type));
        } catch (ProtocolException e) {
            throw new WebhookException("body", e);
        }
    }
}
