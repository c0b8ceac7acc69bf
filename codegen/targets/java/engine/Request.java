package dev.parley.client;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URLEncoder;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

/** The request for an operation. The generated clients describe a request, and the engine sends it. */
public final class Request {
    final String method;
    final Map<String, String> headers = new LinkedHashMap<>();
    BodyPublisher body;
    boolean isIdempotent;
    boolean isPublic;
    Map<String, String> identity;
    private final JsonMapper json;
    private final String path;
    private final List<String[]> query = new ArrayList<>();
    private String boundary;
    private final List<BodyPublisher> parts = new ArrayList<>();

    /** Makes a request. Each of the arguments replaces a parameter of the path, such as {@code {id}}. */
    Request(JsonMapper json, String method, String path, String... arguments) {
        this.json = json;
        this.method = method;
        this.path = fill(path, arguments);
    }

    /** Adds a parameter of the query, once for each item of a list. Null is left out. */
    public Request query(String name, Object value) {
        for (Object item : items(value)) query.add(new String[] {name, text(item)});
        return this;
    }

    /** Adds a header. Null is left out. */
    public Request header(String name, Object value) {
        if (value != null) headers.put(name, text(value));
        return this;
    }

    /**
     * Lets the client open a cut stream again. The identity has the field of an event's data that tells two events
     * apart, by the events' name.
     */
    public Request resumable(Map<String, String> identity) {
        this.identity = identity;
        return this;
    }

    /** Adds a header with JSON. Null is left out. */
    public Request jsonHeader(String name, Object value) {
        if (value != null) headers.put(name, Json.writeHeader(json, value));
        return this;
    }

    /** Sets the body. Null is no body. */
    public Request json(Object value) {
        return value == null ? this : content("application/json", BodyPublishers.ofByteArray(Json.write(json, value)));
    }

    /** Sets the body, with another value for one field. */
    public Request json(Object value, String field, Object fieldValue) {
        ObjectNode object = json.valueToTree(value);
        return json(object.putPOJO(field, fieldValue));
    }

    /** Sets a body of bytes. */
    public Request bytes(BodyPublisher bytes) {
        return content("application/octet-stream", bytes);
    }

    /** Adds a part with text to the form, once for each item of a list. Null is left out. */
    public Request textPart(String name, Object value) {
        for (Object item : items(value)) part(name, "", "", BodyPublishers.ofString(text(item)));
        return this;
    }

    /** Adds a part with JSON to the form. Null is left out. */
    public Request jsonPart(String name, Object value) {
        if (value == null) return this;
        return part(name, "", "application/json", BodyPublishers.ofByteArray(Json.write(json, value)));
    }

    /** Adds a part with bytes to the form. Null is left out. */
    public Request bytesPart(String name, BodyPublisher bytes) {
        return bytes == null ? this : part(name, "; filename=\"audio\"", "application/octet-stream", bytes);
    }

    /** Sets the media types of the answer. */
    public Request accept(String mediaTypes) {
        return header("Accept", mediaTypes);
    }

    /** Adds an Idempotency-Key, which is new for each attempt. */
    public Request idempotent() {
        isIdempotent = true;
        return this;
    }

    /** Leaves the API key out. */
    public Request withoutKey() {
        isPublic = true;
        return this;
    }

    String address() {
        String pairs = query.stream().map(pair -> encode(pair[0]) + "=" + encode(pair[1])).collect(Collectors.joining("&"));
        return pairs.isEmpty() ? path : path + "?" + pairs;
    }

    /** Changes the request to open a stream again. The server ignores the id if there is a cursor. */
    Request after(String id) {
        query.removeIf(pair -> pair[0].equals("cursor"));
        return header("Last-Event-ID", id);
    }

    /** A body with a known length can be read again. A stream has no known length. */
    boolean isRepeatable() {
        return body == null || body().contentLength() >= 0;
    }

    /** Returns the body, with the parts of a form in their order. */
    BodyPublisher body() {
        if (boundary == null) return body;
        List<BodyPublisher> all = new ArrayList<>(parts);
        all.add(BodyPublishers.ofString("--" + boundary + "--\r\n"));
        return BodyPublishers.concat(all.toArray(BodyPublisher[]::new));
    }

    private Request content(String mediaType, BodyPublisher content) {
        headers.put("Content-Type", mediaType);
        body = content;
        return this;
    }

    private Request part(String name, String fileName, String mediaType, BodyPublisher content) {
        if (boundary == null) boundary = UUID.randomUUID().toString();
        content("multipart/form-data; boundary=" + boundary, BodyPublishers.noBody());
        String type = mediaType.isEmpty() ? "" : "Content-Type: " + mediaType + "\r\n";
        String disposition = "Content-Disposition: form-data; name=\"" + name + "\"" + fileName + "\r\n";
        parts.add(BodyPublishers.ofString("--" + boundary + "\r\n" + disposition + type + "\r\n"));
        parts.add(content);
        parts.add(BodyPublishers.ofString("\r\n"));
        return this;
    }

    private static Collection<?> items(Object value) {
        if (value == null) return List.of();
        return value instanceof Collection<?> list ? list : List.of(value);
    }

    private static String text(Object value) {
        return value instanceof Enum<?> constant ? Open.textOf(constant) : String.valueOf(value);
    }

    static String fill(String path, String... arguments) {
        String[] pieces = path.split("\\{[^}]+}", -1);
        StringBuilder filled = new StringBuilder(pieces[0]);
        for (int place = 1; place < pieces.length; place++)
            filled.append(segment(arguments[place - 1])).append(pieces[place]);
        return filled.toString();
    }

    /** A path with an empty segment or with dots could lead to another operation. */
    private static String segment(String value) {
        if (value.isEmpty() || value.equals(".") || value.equals(".."))
            throw new IllegalArgumentException("a parameter of the path cannot be '" + value + "'");
        return encode(value);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
