/** Reads the bodies in the generated client's answers. */

/** Returns JSON and text unchanged, a byte stream's bytes, and an event stream's events. */
export async function readAll(body: unknown): Promise<unknown> {
  if (body instanceof ReadableStream) return Buffer.from(await new Response(body as ReadableStream).arrayBuffer())
  if (typeof body !== 'object' || body === null || !(Symbol.asyncIterator in body)) return body
  const events: unknown[] = []
  // The client throws if the stream ends before its terminal event.
  for await (const event of body as AsyncIterable<unknown>) events.push(event)
  return events
}
