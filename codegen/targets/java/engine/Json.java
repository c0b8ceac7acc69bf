package dev.parley.client;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.PropertyNamingStrategy;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.UncheckedIOException;
import java.util.List;

/** Reads and writes JSON as the contracts say: a null component is left out, and unknown fields are ignored. */
public final class Json {
    /** A JSON answer may have at most 64 MiB. */
    static final int BYTES_MAX = 64 << 20;

    private Json() {
    }

    /** Returns a mapper for a contract whose fields are in snake_case. */
    public static JsonMapper snakeCase() {
        return mapper(PropertyNamingStrategies.SNAKE_CASE);
    }

    /** Returns a mapper for a contract whose fields are in camelCase. */
    public static JsonMapper camelCase() {
        return mapper(PropertyNamingStrategies.LOWER_CAMEL_CASE);
    }

    private static JsonMapper mapper(PropertyNamingStrategy names) {
        JsonMapper mapper = JsonMapper.builder()
            .propertyNamingStrategy(names)
            .defaultPropertyInclusion(JsonInclude.Value.construct(JsonInclude.Include.NON_NULL, null))
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .visibility(PropertyAccessor.FIELD, JsonAutoDetect.Visibility.ANY)
            .addModule(new ContractModule())
            .build();
        var limits = StreamReadConstraints.builder().maxStringLength(BYTES_MAX).build();
        mapper.getFactory().setStreamReadConstraints(limits);
        return mapper;
    }

    static byte[] write(JsonMapper mapper, Object value) {
        try {
            return mapper.writeValueAsBytes(value);
        } catch (JacksonException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Writes ASCII alone, because a header has no other characters. */
    static String writeHeader(JsonMapper mapper, Object value) {
        try {
            return mapper.writer().with(JsonWriteFeature.ESCAPE_NON_ASCII).writeValueAsString(value);
        } catch (JacksonException e) {
            throw new UncheckedIOException(e);
        }
    }

    static <T> T read(JsonMapper mapper, byte[] json, JavaType type) {
        return convert(mapper, tree(mapper, json), type);
    }

    static <T> T convert(JsonMapper mapper, JsonNode node, JavaType type) {
        try {
            return mapper.readValue(mapper.treeAsTokens(node), type);
        } catch (java.io.IOException e) {
            throw new ProtocolException("the JSON is not what the contract says", e);
        }
    }

    static JsonNode tree(JsonMapper mapper, byte[] json) {
        try {
            return mapper.readTree(json);
        } catch (java.io.IOException e) {
            throw new ProtocolException("the server's text is not JSON", e);
        }
    }

    static JsonNode treeOrMissing(JsonMapper mapper, byte[] json) {
        try {
            return mapper.readTree(json);
        } catch (java.io.IOException e) {
            return MissingNode.getInstance();
        }
    }

    /** Reads a value of a union by its tag, or by the name of an event. */
    static <T> T arm(JsonMapper mapper, Class<T> union, String tag, JsonNode node) {
        Union rule = union.getAnnotation(Union.class);
        for (Union.Arm arm : rule.value())
            if (List.of(arm.on()).contains(tag))
                return union.cast(convert(mapper, node, mapper.constructType(arm.as())));
        return union.cast(convert(mapper, node, mapper.constructType(rule.unknown())));
    }
}
