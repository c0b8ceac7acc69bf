/**
 * Work on a recording in steps of a few milliseconds. It yields between two steps, so the calling code can let other
 * work run: audio/ does not use an event loop.
 */
export type Steps<T> = Generator<undefined, T, undefined>
