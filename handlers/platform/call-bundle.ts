/**
 * Serves a call's data as one tar archive, so that the call can be examined elsewhere and replayed. All JSON files are
 * made before the response begins, because the response needs its length. The JSON is made in pieces, and between two
 * pieces other requests are served.
 */
import { loopTurn } from '../../audio/loop-turn.ts'
import type { Calls, EndedCall } from '../../domain/calls/calls.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { Fault } from '../../domain/records/fault.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { RecordingContent } from '../../domain/records/recording.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import type { Capacity } from '../../runtime/shares/capacity.ts'
import { type Change, jsonPieces } from '../../runtime/values/json-pieces.ts'
import { type TarFile, tarOf } from '../../runtime/values/tar.ts'
import { version } from '../../runtime/version.ts'
import { artifactsOf, wireCall, wireEvent, wireReport } from './call-wire.ts'
import { redactedField } from './redacted.ts'
import { timeOf } from './times.ts'
import { callTurn } from './turn-wire.ts'

/** `places` limits how many bundles have their JSON in memory. */
export function getCallBundle(calls: Calls, clock: Clock, places: Capacity): PlatformHandlers<Caller>['getCallBundle'] {
  return async ({ path: { id }, query: { redact } }, { caller }) => {
    const tenant = tenantOf(caller)
    const place = places.take(tenant.organizationId)
    if (place === null) throw new Fault({ kind: 'overloaded' }, { retryAfterS: 1 })
    try {
      const ended = await calls.ended(tenant, id)
      const nowMs = clock.nowMs()
      const change: Change = redact ? redactedField : (value) => value
      const files = await jsonFiles(valuesOf(ended, nowMs), change, tenant.organizationId)
      const { size, bytes } = tarOf([...files, ...recordingFile(ended.recording)], nowMs)
      const jsonBytes = files.reduce((sum, file) => sum + file.size, 0)
      return {
        status: 200,
        headers: {
          'Content-Disposition': `attachment; filename="call-${id}.tar"`,
          'Content-Length': size,
          'X-Content-Type-Options': 'nosniff',
        },
        body: endingAfter(bytes, jsonBytes, () => place.end()),
      }
    } catch (error) {
      place.end()
      throw error
    }
  }
}

/** These fields from the API's call are separate files. */
const ownFiles = new Set(['transcript', 'span_tree', 'report', 'pipeline_config'])

function valuesOf({ whole, events, complete }: Omit<EndedCall, 'recording'>, nowMs: number): Record<string, unknown> {
  const { call, turns } = whole
  // The turns are left out here, and made one by one, because ten thousand turns would take too long at once.
  const wire = wireCall({ ...whole, turns: [], report: null })
  const report = whole.report && wireReport({ ...whole.report, turns: [] })
  const entries = () => ({ entries: mapped(turns, callTurn) })
  return {
    bundle: { version: 1, parley: version, call_id: call.id, saved_at: timeOf(nowMs), complete },
    call: Object.fromEntries(Object.entries(wire).filter(([name]) => !ownFiles.has(name))),
    config: wire.pipeline_config,
    transcript: entries(),
    events: { events: mapped(events, (event) => wireEvent(call, event)) },
    spans: wire.span_tree,
    ...(report && { report: { ...report, transcript: entries(), artifacts: artifactsOf(call, turns.length, false) } }),
  }
}

function* mapped<From, To>(items: readonly From[], made: (item: From) => To): Generator<To> {
  for (const item of items) yield made(item)
}

async function jsonFiles(values: Record<string, unknown>, change: Change, owner: string): Promise<TarFile[]> {
  const files: TarFile[] = []
  for (const [name, value] of Object.entries(values)) files.push(await jsonFile(`${name}.json`, value, change, owner))
  return files
}

async function jsonFile(name: string, value: unknown, change: Change, owner: string): Promise<TarFile> {
  const pieces: Buffer[] = []
  const steps = jsonPieces(value, change)
  for (;;) {
    await loopTurn(1, owner)
    const step = steps.next()
    if (step.done) break
    pieces.push(Buffer.from(step.value))
  }
  return { name, size: pieces.reduce((sum, { length }) => sum + length, 0), read: () => released(pieces) }
}

/**
 * Yields the pieces, and keeps no piece in memory after that, because a client may then read the recording for minutes.
 */
function* released(pieces: Buffer[]): Generator<Buffer> {
  pieces.reverse()
  for (let piece = pieces.pop(); piece; piece = pieces.pop()) yield piece
}

/** This is a separate function, because `read` would otherwise keep the whole call in memory. */
function recordingFile(recording: RecordingContent | null): TarFile[] {
  if (recording === null) return []
  return [{ name: 'recording.wav', size: recording.size, read: () => recording.read(0, recording.size) }]
}

/** Calls `end` when the first `count` bytes were read, or when the client has left. */
function endingAfter(bytes: AsyncIterable<Uint8Array>, count: number, end: () => void): AsyncIterable<Uint8Array> {
  const pieces = bytes[Symbol.asyncIterator]()
  let left = count
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const result = await pieces.next()
      left -= result.done ? left : result.value.length
      if (left <= 0) end()
      return result
    },
    async return() {
      end()
      await pieces.return?.()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
