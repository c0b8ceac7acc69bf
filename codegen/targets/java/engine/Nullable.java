package dev.parley.client;

/**
 * An optional field that can be null. If the field is absent, the reference itself is null.
 *
 * @param value the value, or null if the field is null
 */
public record Nullable<T>(T value) {
    /** Returns a field with a value, or a field that is null. */
    public static <T> Nullable<T> of(T value) {
        return new Nullable<>(value);
    }
}
