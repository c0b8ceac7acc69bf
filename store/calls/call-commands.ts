/**
 * Sends a command to the process that owns the call. A command is a row, and a NOTIFY names the call's owner. The owner
 * deletes the row and then runs the command. So a command runs once, even if a notification is lost or the sender gives
 * up at the same moment.
 *
 *   sender: insert, notify ──► owner: delete … returning, run ──► notify ──► sender resolves
 */
import {
  answerMs,
  type CallAnswer,
  type CallCommand,
  type CallCommands,
  commandMs,
  type RunCallCommand,
} from '../../domain/calls/live/commands.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import type { Sql } from '../postgres/connect.ts'
import type { Tenancy, Worlds } from '../postgres/tenant.ts'

/** The payload is the owner's instance id. */
const sentChannel = 'parley_call_commands'
/** The payload is JSON: the finished command's id and its result. */
const doneChannel = 'parley_call_commands_done'

export type CallCommandDeps = {
  /** The connections for LISTEN and NOTIFY. */
  system: Sql
  /** The owner takes its commands for all organizations in one statement, so it needs the operator's access. */
  worlds: Worlds & Pick<Tenancy, 'asOperator'>
  clock: Clock
  log: Log
  instanceId: string
  commandId: () => string
}

type Row = { organizationId: string; test: boolean; id: string; callId: string; command: CallCommand }

export function createCallCommands(deps: CallCommandDeps): CallCommands {
  const { system, worlds, clock, log, instanceId, commandId } = deps
  const waiting = new Map<string, (answer: CallAnswer) => void>()

  async function take(run: RunCallCommand): Promise<void> {
    const rows = await worlds.asOperator(
      (tx) => tx<Row[]>`
        delete from call_commands where owner_id = ${instanceId}
        returning organization_id as "organizationId", test, id, call_id as "callId", command`,
    )
    // The rows are deleted already. So all commands start before the first result is sent, because sending may fail.
    const answers = rows.map(({ organizationId, test, id, callId, command }) => {
      return { id, answer: Promise.resolve(run({ organizationId, test }, callId, command)) }
    })
    await Promise.all(answers.map(async ({ id, answer }) => notifyDone({ id, answer: await answer })))
  }

  async function notifyDone(done: { id: string; answer: CallAnswer }): Promise<void> {
    await system`select pg_notify(${doneChannel}, ${JSON.stringify(done)})`
  }

  return {
    async send(tenant, callId, ownerId, command) {
      const id = commandId()
      const done = untilDone(id)
      try {
        await worlds.asTenant(tenant, async (tx) => {
          await tx`
            insert into call_commands (organization_id, test, id, call_id, owner_id, command, created_at)
            values (${tenant.organizationId}, ${tenant.test}, ${id}, ${callId}, ${ownerId}, ${JSON.stringify(command)}::text::json,
              ${new Date(clock.nowMs())})`
          await tx`select pg_notify(${sentChannel}, ${ownerId})`
        })
        const reply = await done.within(commandMs)
        if (reply !== null) return reply
        // If deleting the row fails, the owner may have started a transfer, so the transfer counts as started.
        if (await withdrawn(tenant, id).catch(command.kind === 'transfer' ? () => false : rethrow)) return null
        // The owner has taken the command. Either it still runs, or its result was lost.
        return (command.kind === 'transfer' && (await done.within(answerMs))) || { answer: null }
      } finally {
        done.forget()
      }
    },
    async listen(run) {
      const takeLogged = () =>
        void take(run).catch((err: unknown) => log.error({ err }, 'commands for calls of this process were not taken'))
      // The driver listens again after each lost connection. Commands may have arrived before that, so they are taken
      // now.
      await system.listen(sentChannel, (ownerId) => ownerId === instanceId && takeLogged(), takeLogged)
      await system.listen(doneChannel, (payload) => {
        const { id, answer } = JSON.parse(payload) as { id: string; answer: CallAnswer }
        waiting.get(id)?.(answer)
      })
    },
  }

  function untilDone(id: string) {
    const done = new Promise<{ answer: CallAnswer }>((resolve) => waiting.set(id, (answer) => resolve({ answer })))
    return {
      /** Resolves with the result, or with null if there is no result within `waitMs`. */
      within: (waitMs: number) =>
        new Promise<{ answer: CallAnswer } | null>((resolve) => {
          const finish = (answer: { answer: CallAnswer } | null) => {
            cancel()
            resolve(answer)
          }
          const cancel = clock.after(waitMs, () => finish(null))
          void done.then(finish)
        }),
      forget: () => void waiting.delete(id),
    }
  }

  /** Deletes the command's row. Returns false if the owner has taken the command at the last moment. */
  function withdrawn({ organizationId, test }: Tenant, id: string): Promise<boolean> {
    return worlds.asTenant({ organizationId, test }, async (tx) => {
      const { count } = await tx`
        delete from call_commands where organization_id = ${organizationId} and test = ${test} and id = ${id}`
      return count > 0
    })
  }
}

function rethrow(error: unknown): never {
  throw error
}
