/**
 * Simulators in other processes on this machine. Any process on the webhook port may receive a leg's event, and its
 * commands then reach that process's simulator. A leg id names its simulator's port, so such a command is passed on to
 * this port.
 */
import { uniqueId } from '../runtime/timing/clock.ts'
import type { LocalPools } from './local-pools.ts'
import { unknownCall } from './refusal.ts'

/** Marks a request that was passed on, so it is not passed on again. */
export const passedOnHeader = 'x-passed-on'

const form = /^v3:(\d{4,5})-[0-9A-Za-z]{22}$/
export const newLegId = (port: number) => `v3:${port}-${uniqueId()}`
/** Null if the id is not a simulator's. */
export const portOf = (legId: string) => {
  const port = Number(form.exec(legId)?.[1] ?? 0)
  return port >= 1024 && port <= 65_535 ? port : null
}

export type PassedOn = { port: number; method: 'GET' | 'POST'; path: string; body: string; apiKey: string }

/**
 * Returns the other simulator's answer. Throws a refusal if the other simulator is gone, because its legs are gone too.
 */
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
