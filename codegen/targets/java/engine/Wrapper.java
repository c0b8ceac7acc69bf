package dev.parley.client;

/** A record with a single value, whose JSON is the JSON of the value: an enum, or a text in a union. */
public interface Wrapper<T> {
    /** Returns the value. */
    T value();
}
