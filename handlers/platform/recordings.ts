/** Serves recordings: their URL, their bytes with range requests (RFC 9110, 14), and the peaks of their waveform. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Calls } from '../../domain/calls/calls.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { RecordingContent } from '../../domain/records/recording.ts'
import { ResourceFault } from '../../domain/records/resource-fault.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { PublicUrlOf } from '../public-url.ts'
import { timeOf } from './times.ts'

type Handlers = PlatformHandlers<Caller>

export function getCallRecording(calls: Calls, publicUrlOf: PublicUrlOf): Handlers['getCallRecording'] {
  return async ({ path: { id }, query: { expires_in: lifeS } }, { caller, peer }) => {
    if (lifeS !== undefined) {
      const { url, expiresAtMs } = await calls.recordingLink(tenantOf(caller), id, lifeS)
      const absolute = url.startsWith('/') ? `${publicUrlOf(peer)}${url}` : url
      return { status: 200, body: { url: absolute, expires_at: timeOf(expiresAtMs) } }
    }
    await calls.recording(tenantOf(caller), id)
    return { status: 200, body: { url: `${publicUrlOf(peer)}/v1/calls/${id}/recording/audio` } }
  }
}

export function getCallRecordingAudio(calls: Calls): Handlers['getCallRecordingAudio'] {
  return async ({ path: { id }, header }, { caller }) => {
    const content = await calls.recording(tenantOf(caller), id)
    return audioAnswer(id, content, header)
  }
}

const gzipped = promisify(gzip)

export function getRecordingPeaks(calls: Calls): Handlers['getRecordingPeaks'] {
  return async ({ path: { id }, header }, { caller }) => {
    const peaks = await calls.recordingPeaks(tenantOf(caller), id)
    const headers = { Vary: 'Accept-Encoding' }
    if (!takesGzip(header['accept-encoding'])) return { status: 200, headers, body: peaks }
    return { status: 200, headers: { ...headers, 'Content-Encoding': 'gzip' }, body: await gzipped(peaks) }
  }
}

/** Reads an Accept-Encoding header (RFC 9110, 12.5.3). */
function takesGzip(accepted = ''): boolean {
  return accepted.split(',').some((each) => {
    const [coding = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    return coding === 'gzip' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

type RangeHeaders = { range?: string | undefined; 'if-range'?: string | undefined }

export function audioAnswer(id: string, content: RecordingContent, header: RangeHeaders) {
  const etag = etagOf(content)
  const headers = {
    ETag: etag,
    'Accept-Ranges': 'bytes' as const,
    'Cache-Control': 'no-store' as const,
    // If a browser opens the URL, it must treat the file as audio only.
    'X-Content-Type-Options': 'nosniff' as const,
    'Content-Disposition': `inline; filename="call-${id}.wav"`,
  }
  // Entity tags are compared strongly: a weak tag never matches, and neither does a date (RFC 9110, 13.1.5).
  const isCurrent = header['if-range'] === undefined || header['if-range'] === etag
  const range = isCurrent ? readRange(header.range, content.size) : null
  const { start, end } = range ?? { start: 0, end: content.size }
  const part = { ...headers, 'Content-Length': end - start }
  const body = content.read(start, end)
  if (range === null) return { status: 200 as const, headers: part, body }
  return {
    status: 206 as const,
    headers: { ...part, 'Content-Range': `bytes ${start}-${end - 1}/${content.size}` },
    body,
  }
}

function etagOf({ size, modifiedAtMs }: RecordingContent): string {
  return `"${size.toString(16)}-${Math.floor(modifiedAtMs).toString(16)}"`
}

/**
 * Reads a Range header. Returns null, for the whole recording, if the header is not a single byte range. Throws
 * ResourceFault if the range starts after the end.
 */
function readRange(header: string | undefined, size: number): { start: number; end: number } | null {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/i.exec(header?.trim() ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  if (first === '') {
    if (Number(last) === 0) throw new ResourceFault({ kind: 'range_unsatisfiable', bytes: size })
    return { start: Math.max(0, size - Number(last)), end: size }
  }
  const [start, end] = [Number(first), last === '' ? size : Math.min(Number(last) + 1, size)]
  if (last !== '' && Number(last) < start) return null
  if (start >= size) throw new ResourceFault({ kind: 'range_unsatisfiable', bytes: size })
  return { start, end }
}
