/** Reads responses of the OpenAI-compatible API. */

/** A stream's events, parsed except `[DONE]`. Chat and audio events have only data. */
export function frames(text: string): unknown[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => (frame === 'data: [DONE]' ? '[DONE]' : (JSON.parse(frame.slice(6)) as unknown)))
}

export function events(text: string): { event: string; data: Record<string, unknown> }[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.includes('event: '))
    .map((frame) => ({
      event: /^event: (.*)$/m.exec(frame)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(frame)?.[1] ?? 'null') as Record<string, unknown>,
    }))
}
