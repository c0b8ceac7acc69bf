/** Serves all data about a call as one tar archive, so that the call can be examined elsewhere and replayed. */
import type { Calls, EndedCall } from '../../domain/calls/calls.ts'
import type { Clock } from '../../domain/ports/system.ts'
import { type Caller, tenantOf } from '../../domain/records/organization.ts'
import type { PlatformHandlers } from '../../generated/platform/handlers.ts'
import { type TarFile, tarOf } from '../../runtime/values/tar.ts'
import { version } from '../../runtime/version.ts'
import { wireCall, wireEvent } from './call-wire.ts'
import { redacted } from './redacted.ts'
import { timeOf } from './times.ts'

type Change = (value: unknown) => unknown

export function getCallBundle(calls: Calls, clock: Clock): PlatformHandlers<Caller>['getCallBundle'] {
  return async ({ path: { id }, query: { redact } }, { caller }) => {
    const ended = await calls.ended(tenantOf(caller), id)
    const nowMs = clock.nowMs()
    const { size, bytes } = tarOf(filesOf(ended, nowMs, redact ? redacted : (value) => value), nowMs)
    return {
      status: 200,
      headers: {
        'Content-Disposition': `attachment; filename="call-${id}.tar"`,
        'Content-Length': size,
        'X-Content-Type-Options': 'nosniff',
      },
      body: bytes,
    }
  }
}

function filesOf({ whole, events, recording }: EndedCall, nowMs: number, change: Change): TarFile[] {
  const { transcript, span_tree: spans, report, pipeline_config: config, ...call } = wireCall(whole)
  const json = (name: string, value: unknown) => jsonFile(name, change(value))
  return [
    json('bundle', { version: 1, parley: version, call_id: call.id, saved_at: timeOf(nowMs) }),
    json('call', call),
    json('config', config),
    json('transcript', transcript),
    json('events', { events: events.map((event) => wireEvent(whole.call, event)) }),
    json('spans', spans),
    ...(report === null ? [] : [json('report', report)]),
    ...(recording === null
      ? []
      : [{ name: 'recording.wav', size: recording.size, read: () => recording.read(0, recording.size) }]),
  ]
}

function jsonFile(name: string, value: unknown): TarFile {
  const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
  return { name: `${name}.json`, size: bytes.length, read: () => [bytes] }
}
