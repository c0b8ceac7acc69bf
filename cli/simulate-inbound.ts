/**
 * `parley up --simulate-inbound`: a simulated person calls as soon as the server is ready, and the terminal shows the
 * call.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { PlatformClient } from '../generated/clients/typescript/platform.ts'
import type { Connection } from './actions.ts'
import { explain, platformClient } from './client.ts'
import { CommandError } from './command-error.ts'
import { tailCall } from './tail-call.ts'

/** This simulated person talks, and hangs up after "goodbye" (docs/simulator.md). */
const from = '+15005550006'
const usualLines = ['What can you do for me?', 'Good, thank you very much.', 'Goodbye.']
const announcedMsMax = 15_000
const lookEveryMs = 100

/** Calls the server and prints the call. Never rejects, because the server runs on without the call. */
export async function simulateInbound(connection: Connection, lines: readonly string[]): Promise<void> {
  try {
    const client = platformClient(connection)
    const to = await calledNumber(client)
    const before = await newestInbound(client)
    await callFrom(connection, to, lines.length > 0 ? lines : usualLines)
    console.log(`${from} calls ${to}`)
    await tailCall(client, await nextInbound(client, before), false)
  } catch (error) {
    console.error(`the simulated call has failed: ${explain(error)}`)
  }
}

/**
 * Returns the number to call: a number with an agent, else the first number. Trunk numbers are left out, because the
 * simulator cannot reach them.
 */
export async function calledNumber(client: PlatformClient): Promise<string> {
  const { body } = await client.listPhoneNumbers()
  const open = body.filter(({ direction, source }) => direction !== 'outbound' && source !== 'sip_trunk')
  const number = open.find(({ agentId }) => agentId !== null) ?? open[0]
  if (number === undefined)
    throw new CommandError(
      'there is no number that takes calls: `parley numbers buy` makes one, `parley numbers set` opens one',
    )
  return number.e164
}

async function callFrom({ baseUrl, apiKey }: Connection, to: string, lines: readonly string[]): Promise<void> {
  const answer = await fetch(`${baseUrl}/simulator/calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({ from, to, lines }),
  })
  if (answer.status !== 201)
    throw new CommandError(`the simulated carrier does not call (${answer.status}): it serves this machine alone`)
}

async function newestInbound(client: PlatformClient): Promise<string | null> {
  const { body } = await client.listSessions({ query: { kind: 'inbound', limit: 1 } })
  return body.entries[0]?.sessionId ?? null
}

async function nextInbound(client: PlatformClient, before: string | null): Promise<string> {
  for (let waitedMs = 0; waitedMs < announcedMsMax; waitedMs += lookEveryMs) {
    const newest = await newestInbound(client)
    if (newest !== null && newest !== before) return newest
    await sleep(lookEveryMs)
  }
  throw new CommandError('no agent answers that number: give it one with `parley numbers set NUMBER --agent AGENT`')
}
