/** Reads the text of an example of a server-sent event stream. Anything that is no text has no events. */
export type ExampleEvent = { event: string; data: string }

export function readEventStream(text: unknown): ExampleEvent[] {
  if (typeof text !== 'string') return []
  return text.split(/\n\n+/).flatMap((frame) => {
    const event = field(frame, 'event')
    return event === undefined ? [] : [{ event, data: field(frame, 'data') ?? '' }]
  })
}

function field(frame: string, name: string): string | undefined {
  return new RegExp(`^${name}: ?(.*)$`, 'm').exec(frame)?.[1]
}
