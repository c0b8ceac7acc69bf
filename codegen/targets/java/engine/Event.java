package dev.parley.client;

/**
 * An event with a name.
 *
 * @param name the kind of the event. The data has the type that belongs to the name
 * @param id the event's id, for the header Last-Event-ID. Null if the stream has no ids
 * @param data the event's data
 */
public record Event<T>(String name, String id, T data) {
}
