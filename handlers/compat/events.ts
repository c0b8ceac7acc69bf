/** Events that are all there already, as the stream that the contract has for them. */
export function inOrder<Event>(events: readonly Event[]): AsyncIterable<Event> {
  const items = events.values()
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve(items.next()) }) }
}
