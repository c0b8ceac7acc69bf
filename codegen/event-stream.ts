/** Reads the text of an example of a server-sent event stream. Anything that is no text has no events. */
export type ExampleEvent = {
  /** Null where the frame has no name. */
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

/** What a client can tell the last frame by: its name; without one `[DONE]` or the `type` in its data. Null where there is nothing to tell it by. */
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
