package dev.parley.client;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A value of an enum in an answer. A later version of the server may send a text that this version does not know.
 *
 * @param text the text as the server sent it
 * @param known the value, or null if this version does not know the text
 */
public record Open<E extends Enum<E>>(String text, E known) {
    /** Returns a known value. */
    public static <E extends Enum<E>> Open<E> of(E value) {
        return value == null ? null : new Open<>(textOf(value), value);
    }

    /** Returns known values. */
    public static <E extends Enum<E>> List<Open<E>> of(List<E> values) {
        return values == null ? null : values.stream().map(Open::of).toList();
    }

    /** True if this is the value. */
    public boolean is(E value) {
        return known == value;
    }

    @Override
    public String toString() {
        return text;
    }

    /** Returns the text of a value in the contract: its name in small letters, or the text in its annotation. */
    static String textOf(Enum<?> value) {
        try {
            JsonProperty annotation = value.getDeclaringClass().getField(value.name()).getAnnotation(JsonProperty.class);
            return annotation == null ? value.name().toLowerCase(Locale.ROOT) : annotation.value();
        } catch (NoSuchFieldException e) {
            throw new IllegalStateException(e);
        }
    }

    static Optional<Object> find(Class<?> type, String text) {
        return Stream.of(type.getEnumConstants()).map(Object.class::cast)
            .filter(value -> textOf((Enum<?>) value).equals(text)).findFirst();
    }
}
