/**
 * Finds simulators in other processes on this machine. Any process on the webhook port may receive a leg's event, and
 * the process then sends its commands to the simulator beside it. A leg id contains the port of the leg's simulator, so
 * such a command is passed on to this port.
 */
import { uniqueId } from '../runtime/timing/clock.ts'
import type { LocalPools } from './local-pools.ts'
import { unknownCall } from './refusal.ts'

/** Marks a request that was passed on, so it is not passed on again. */
export const passedOnHeader = 'x-passed-on'

const form = /^v3:(\d{4,5})-[0-9A-Za-z]{22}$/
export const newLegId = (port: number) => `v3:${port}-${uniqueId()}`
/** Returns the simulator's port from a leg id, or null if the id is not from a simulator. */
export const portOf = (legId: string) => {
  const port = Number(form.exec(legId)?.[1] ?? 0)
  return port >= 1024 && port <= 65_535 ? port : null
}

export type PassedOn = { port: number; method: 'GET' | 'POST'; path: string; body: string; apiKey: string }

/**
 * Passes a request on and returns the other simulator's answer. Throws a refusal if the other simulator is gone,
 * because its legs are gone too.
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
