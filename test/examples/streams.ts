/** Converts answers other than JSON to a form for `differences`: event streams and subtitles. */

type Event = { kind: string; data: unknown }

/**
 * Returns a stream's events (WHATWG HTML §9.2) in order. Neighbouring events of the same kind are grouped, because the
 * model decides into how many pieces its text is split. Without an event name, the kind comes from the data.
 */
export function runsOf(stream: string): { kind: string; events: unknown[] }[] {
  const runs: { kind: string; events: unknown[] }[] = []
  for (const { kind, data } of stream.split('\n\n').flatMap(eventOf)) {
    if (runs.at(-1)?.kind !== kind) runs.push({ kind, events: [] })
    runs.at(-1)?.events.push(data)
  }
  return runs
}

function eventOf(block: string): Event[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
  const text = field('data')
  if (text === undefined) return []
  if (text === '[DONE]') return [{ kind: text, data: text }]
  const data = JSON.parse(text) as { type?: string; object?: string; error?: object }
  const kind = field('event') ?? data.type ?? (data.error ? 'error' : data.object) ?? 'without a kind'
  return [{ kind, data: { ...data, ...(field('id') && { 'the line id': Number(field('id')) }) } }]
}

/** Returns the head and the cues in srt or vtt, with 0 for each digit and without the spoken text. */
export function cuesOf(subtitles: string): string[] {
  const line = (text: string) => (/^(\d+|WEBVTT|.*-->.*)$/.test(text) ? text.replaceAll(/\d/g, '0') : text && 'text')
  const blocks = subtitles.split('\n\n').map((block) => block.split('\n').map(line).join('\n'))
  // A cue number may have two digits, so it becomes a single 0.
  return blocks.map((block) => block.replace(/^0+\n/, '0\n'))
}
