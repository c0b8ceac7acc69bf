/** Ends all live calls and sessions of an organization, in every process. */
import type { OwnedCall } from '../store.ts'
import type { CallCommands } from './commands.ts'

export type EndCallsDeps = {
  /** Lists the organization's calls with an owning process. */
  owned: (organizationId: string) => Promise<readonly OwnedCall[]>
  commands: Pick<CallCommands, 'send'>
}

/** `unreached` calls go on, because their process did not answer. */
export type EndedCalls = { ended: number; unreached: number }

/** The end events of the calls show this reason. */
export const disabledReason = 'The operator has disabled the organization.'

/** The command to end is sent to at most this many calls at the same time. */
const commandsMax = 50
/** An upper limit for the list. An organization never has this many calls. */
const callsMax = 100_000

/**
 * The organization must be disabled already. A call that was admitted before may begin meanwhile, so the list is read
 * again until it contains no new calls.
 */
export async function endCalls({ owned, commands }: EndCallsDeps, organizationId: string): Promise<EndedCalls> {
  const asked = new Set<string>()
  const counts = { ended: 0, unreached: 0 }
  while (asked.size < callsMax) {
    const calls = (await owned(organizationId)).filter(({ id }) => !asked.has(id)).slice(0, commandsMax)
    if (calls.length === 0) break
    for (const { id } of calls) asked.add(id)
    const answers = await Promise.all(calls.map((call) => sendEnd(commands, call)))
    for (const isEnding of answers) counts[isEnding ? 'ended' : 'unreached'] += 1
  }
  return counts
}

/** Sends the command to end a call. Returns false if the call's process did not answer. */
async function sendEnd(commands: EndCallsDeps['commands'], { id, ownerId, ...tenant }: OwnedCall): Promise<boolean> {
  const command = { kind: 'end', reason: 'api_ended', clientReason: disabledReason } as const
  return (await commands.send(tenant, id, ownerId, command)) !== null
}
