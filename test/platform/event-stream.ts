/** Reads server-sent events of the public API, one by one. */
import { judgedFetch } from '../oracle.ts'
import type { Target } from '../router/requests.ts'

export type Seen = { event: string; id: string; data: Record<string, unknown> }

/** Opens a stream and returns a function that reads its events one by one. */
export async function follow(target: Target, path: string, lastEventId?: string) {
  const headers = {
    authorization: `Bearer ${target.key}`,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const leaving = new AbortController()
  const answer = await judgedFetch(`${target.url}${path}`, { headers, signal: leaving.signal })
  if (answer.status !== 200 || answer.body === null) throw new Error(`${answer.status} ${await answer.text()}`)
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  async function next(): Promise<Seen | null> {
    for (;;) {
      const end = text.indexOf('\n\n')
      if (end >= 0) {
        const lines = text.slice(0, end).split('\n')
        text = text.slice(end + 2)
        const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? ''
        if (field('event') !== '')
          return { event: field('event'), id: field('id'), data: JSON.parse(field('data')) as Record<string, unknown> }
        continue
      }
      const { done, value } = await reader.read()
      if (done) return null
      text += value
    }
  }
  return {
    next,
    async rest(): Promise<Seen[]> {
      const all: Seen[] = []
      for (let each = await next(); each; each = await next()) all.push(each)
      return all
    },
    close: () => leaving.abort(),
  }
}
