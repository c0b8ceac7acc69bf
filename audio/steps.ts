/**
 * A generator for work on a recording, in steps of a few milliseconds. It yields after each step, so the calling code
 * can run other work in between: audio/ itself does not use the event loop.
 */
export type Steps<T> = Generator<undefined, T, undefined>
