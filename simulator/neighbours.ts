/**
 * Finds simulators in other processes on this machine. Several processes may share the webhook port. Any process may
 * receive a leg's event, and it then sends its commands to its own simulator. A leg id contains the port of the leg's
 * simulator, so the command is forwarded to this port.
 */
import { uniqueId } from '../runtime/timing/clock.ts'
import type { LocalPools } from './local-pools.ts'
import { unknownCall } from './refusal.ts'

/** Marks a forwarded request, so it is not forwarded again. */
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
 * Forwards a request and returns the other simulator's answer. Throws a `Refusal` if the other simulator has ended,
 * because its legs have ended too.
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
