/** Waits for phone calls on a server in real time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../platform/setup.ts'
import type { Target } from '../router/requests.ts'
import type { PhoneCallRow } from './call-rows.ts'

/** Returns the call as soon as `isDone` returns true. */
export async function callWhen(
  target: Target,
  id: string,
  isDone: (row: PhoneCallRow) => boolean,
  waitMs = 120_000,
): Promise<PhoneCallRow> {
  for (const endMs = Date.now() + waitMs; ; ) {
    const answer = await call(target, 'GET', `/v1/calls/${id}`)
    const row = answer.json<PhoneCallRow>()
    // Frequent polling may reach the key's request limit. After a 429 the request is sent again.
    if (answer.status !== 429 && isDone(row)) return row
    if (Date.now() > endMs) throw new Error(`a call is ${row.status} after ${waitMs} ms`)
    await sleep(answer.status === 429 ? 1000 : 200)
  }
}

/** A busy machine delays a result by at most this time. */
const lateMs = 40_000

/** Returns the id for the newest inbound call, once a call outside `known` is stored. */
export async function newestInbound(target: Target, known: ReadonlySet<string> = new Set()): Promise<string> {
  for (const endMs = Date.now() + lateMs; Date.now() < endMs; await sleep(50)) {
    const list = await call(target, 'GET', '/v1/sessions?kind=inbound&limit=1')
    const id = list.json<{ entries: { sessionId: string }[] }>().entries[0]?.sessionId
    if (id !== undefined && !known.has(id)) return id
  }
  throw new Error('no inbound call')
}
