/** Cuts a recording by the header Range (RFC 9110, section 14). */
import type { Answer } from './answer.ts'

/**
 * Returns the answer with the range's bytes. Any other header than one range in bytes is ignored, as the RFC asks.
 * Returns null if the range begins after the last byte.
 */
export function partOf(answer: Answer, partial: Answer, range: string): Answer | null {
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(range.trim()) ?? []
  if (!(answer.body instanceof Uint8Array) || (from === '' && to === '')) return answer
  if (from !== '' && to !== '' && Number(to) < Number(from)) return answer
  const size = answer.body.length
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size : Math.min(size, Number(to) + 1)
  if (start >= size) return null
  const headers = { ...partial.headers, 'Content-Range': `bytes ${start}-${end - 1}/${size}` }
  return { ...partial, headers, body: answer.body.subarray(start, end) }
}
