/**
 * Work on a recording that is done a few milliseconds at a time. It yields between two steps, so that the calling code can let others run:
 * audio/ knows of no event loop.
 */
export type Steps<T> = Generator<undefined, T, undefined>
