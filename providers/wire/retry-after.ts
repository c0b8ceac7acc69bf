import type { AnswerHeaders } from '../../runtime/outbound/answer.ts'

/**
 * The seconds of Retry-After. RFC 9110 §10.2.3 allows seconds or a date. A date is compared with the answer's Date header,
 * so our clock and the server's may differ. NaN for a text that is neither.
 */
export function retryAfterS(headers: AnswerHeaders): number | undefined {
  const text = headers.get('retry-after')
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  return (Date.parse(text) - Date.parse(headers.get('date') ?? '')) / 1000
}
