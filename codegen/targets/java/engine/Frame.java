package dev.parley.client;

/** One event on the wire. The id is null if the stream has no ids. */
record Frame(String id, String event, String data) {
}
