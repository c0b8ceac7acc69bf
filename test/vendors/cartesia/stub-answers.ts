/** Audio and errors, which all endpoints of the vendor share. */
import type { Cell } from '../suite/matrix.ts'
import { sinePcm } from '../suite/stub-server.ts'

export type OutputFormat = { container?: string; encoding?: string; sample_rate?: number }

/** The audio for every text. */
export function spoken({ encoding, sample_rate = 0 }: OutputFormat): Buffer {
  const pcm = sinePcm(sample_rate / 5, sample_rate)
  if (encoding === 'pcm_s16le') return pcm
  return encoding === 'pcm_f32le' ? Buffer.concat([pcm, pcm]) : pcm.subarray(0, pcm.length / 2)
}

/** Returns the fault in a request for speech; null if the request is valid. */
export function complaintAboutSpeech(body: Record<string, unknown>): string | null {
  const { container, encoding = '', sample_rate = 0 } = (body['output_format'] ?? {}) as OutputFormat
  if (container !== 'raw' || !encodings.includes(encoding) || !rates.includes(sample_rate)) return 'output_format'
  if (typeof body['voice'] !== 'string' || body['voice'] === '') return 'voice'
  if (typeof body['transcript'] !== 'string') return 'transcript'
  return String(body['model_id']).startsWith('sonic-') ? null : 'model_id'
}

export const encodings = ['pcm_s16le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw']
const rates = [8000, 16_000, 22_050, 24_000, 44_100, 48_000]

export const says = { message: 'What the vendor says to people.', request_id: '00000000-0000-4000-8000-000000000000' }

/** If an answer has no code, its status decides the kind of error. */
export const failures: Partial<Record<Cell, { status: number; error_code: string | null; title: string }>> = {
  auth: { status: 401, error_code: null, title: 'Unauthorized' },
  quota: { status: 402, error_code: 'quota_exceeded', title: 'Quota exceeded' },
  rate_limited: { status: 429, error_code: 'concurrency_limited', title: 'Too many concurrent requests' },
  rate_limited_bare: { status: 429, error_code: 'concurrency_limited', title: 'Too many concurrent requests' },
  overloaded: { status: 503, error_code: null, title: 'Service unavailable' },
  server: { status: 500, error_code: null, title: 'Internal server error' },
  bad_request: { status: 400, error_code: null, title: 'Bad request' },
}

/** The same error in a frame, with its status in a field. */
export function errorFrame(cell: Cell, fields: object = {}): object {
  const { status, ...rest } = failures[cell] ?? failures.bad_request!
  return { type: 'error', done: true, status_code: status, ...rest, ...says, ...fields }
}
