import type { AnswerHeaders } from '../../runtime/outbound/answer.ts'

/**
 * Returns the wait from the Retry-After header in seconds. RFC 9110 §10.2.3 allows seconds or a date. A date is
 * compared with the response's Date header, because our clock and the server's may differ. If the Date header is
 * missing or unreadable, the date is compared with `nowMs`, our clock's time. Returns NaN if the text is neither
 * seconds nor a date.
 */
export function retryAfterS(headers: AnswerHeaders, nowMs: number): number | undefined {
  const text = headers.get('retry-after')
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  const sentMs = Date.parse(headers.get('date') ?? '')
  return (Date.parse(text) - (Number.isNaN(sentMs) ? nowMs : sentMs)) / 1000
}
