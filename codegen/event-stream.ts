/** Reads an example's text as a server-sent event stream. If the value is not a text, there are no events. */
export type ExampleEvent = {
  /** Null if the frame has no name. */
  event: string | null
  data: string
}

export function readEventStream(text: unknown): ExampleEvent[] {
  if (typeof text !== 'string') return []
  return text.split(/\n\n+/).flatMap((frame) => {
    const event = field(frame, 'event') ?? null
    const data = field(frame, 'data')
    return event === null && data === undefined ? [] : [{ event, data: data ?? '' }]
  })
}

/**
 * Returns the text by which a client recognizes the last frame: its name, or without a name, `[DONE]` or the `type` in
 * its data. Null if the frame has no such text.
 */
export function terminalMark({ event, data }: ExampleEvent): string | null {
  if (event !== null || data === '[DONE]') return event ?? data
  try {
    const { type } = JSON.parse(data) as { type?: unknown }
    return typeof type === 'string' ? type : null
  } catch {
    return null
  }
}

function field(frame: string, name: string): string | undefined {
  return new RegExp(`^${name}: ?(.*)$`, 'm').exec(frame)?.[1]
}
