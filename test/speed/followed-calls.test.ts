/**
 * If another process stores a change of a call, a client that follows the call's event stream gets the change within
 * 300 ms.
 */
import { once } from 'node:events'
import { Readable } from 'node:stream'
import t from 'tap'
import { newCall, newEvent } from '../calls/call.ts'
import { startAdministered } from '../platform/setup.ts'

const seenMsMax = 300

t.test('a client that follows a call receives its new status within 300 ms', async (t) => {
  const { admin } = await startAdministered(t)
  const acme = await admin.organization('following')
  const stored = newCall(acme.id)
  await admin.store.calls.insert(stored, {})
  const answer = await fetch(`${acme.url}/v1/sessions/${stored.id}/stream`, {
    headers: { authorization: `Bearer ${acme.key}` },
  })
  const stream = Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream)
  t.match(String(await once(stream, 'data')), /"queued"/)
  const event = newEvent('call.in_progress', { occurredAtMs: Date.now() })
  await admin.store.calls.append(stored, stored.id, [{ kind: 'move', event, to: 'in_progress', change: {} }])
  const storedMs = performance.now()
  t.match(String(await once(stream, 'data')), /"in_progress"/)
  const seenMs = performance.now() - storedMs
  t.ok(seenMs <= seenMsMax, `${seenMs.toFixed(0)} ms`)
  stream.destroy()
})
