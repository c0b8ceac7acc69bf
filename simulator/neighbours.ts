/**
 * Simulators of other processes of this machine. The event of a leg may reach any process that listens on the port of the
 * webhooks, and its commands then reach the simulator of that process. The id of a leg names the port of its simulator,
 * to which such a command is passed on.
 */
import { uniqueId } from '../runtime/timing/clock.ts'
import type { LocalPools } from './local-pools.ts'
import { unknownCall } from './refusal.ts'

/** Marks a request that was passed on, so that it is not passed on again. */
export const passedOnHeader = 'x-passed-on'

const form = /^v3:(\d{4,5})-[0-9A-Za-z]{22}$/
export const newLegId = (port: number) => `v3:${port}-${uniqueId()}`
/** Null: no id of a simulator. */
export const portOf = (legId: string) => {
  const port = Number(form.exec(legId)?.[1] ?? 0)
  return port >= 1024 && port <= 65_535 ? port : null
}

export type PassedOn = { port: number; method: 'GET' | 'POST'; path: string; body: string; apiKey: string }

/** The answer of the other simulator. Throws a refusal when it is gone, and its legs with it. */
export async function passOn(pools: LocalPools, request: PassedOn): Promise<{ status: number; text: string }> {
  const { port, method, path, body, apiKey } = request
  const headers = ['authorization', `Bearer ${apiKey}`, 'content-type', 'application/json', passedOnHeader, 'yes']
  const url = `http://127.0.0.1:${port}${path}`
  try {
    const answer = await pools.request({ method, url, headers, ...(method === 'POST' && { body }) })
    return { status: answer.status, text: answer.body.toString() }
  } catch {
    throw unknownCall()
  }
}
