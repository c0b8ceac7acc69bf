/** Writes an audit event if an operation was refused because the person's role is too low. */
import type { Clock, Log } from '../../domain/ports/system.ts'
import { type AuditLog, actorOf } from '../../domain/records/audit.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { type Sender, sourceOf } from './events.ts'

export type Denials = ReturnType<typeof createDenials>

type DenialDeps = { audit: Pick<AuditLog, 'add'>; clock: Clock; log: Pick<Log, 'error'> }

/** For each person and operation, one refusal a minute is written, because a page may repeat a request. */
const minuteMs = 60_000
/** At most this many pairs (a person and an operation) are remembered. Beyond this, the oldest pair is forgotten. */
const rememberedMax = 10_000

export function createDenials({ audit, clock, log }: DenialDeps) {
  const noted = new Map<string, number>()

  function isRepeat(key: string): boolean {
    const nowMs = clock.monotonicMs()
    const lastMs = noted.get(key) ?? Number.NEGATIVE_INFINITY
    if (nowMs - lastMs < minuteMs) return true
    noted.delete(key)
    noted.set(key, nowMs)
    const oldest = noted.keys().next()
    if (noted.size > rememberedMax && !oldest.done) noted.delete(oldest.value)
    return false
  }

  return {
    /** Never rejects. Refusals of API keys are not written. */
    async note(caller: Caller, { id }: { id: string }, sender: Sender): Promise<void> {
      if (caller.role === undefined || isRepeat(`${caller.organization.id} ${caller.keyId} ${id}`)) return
      await audit
        .add({
          organizationId: caller.organization.id,
          actor: actorOf(caller),
          action: 'access.denied',
          target: { type: 'operation', id, name: null },
          changed: [],
          source: sourceOf(sender.peer),
          result: 'denied',
          requestId: sender.requestId,
        })
        .catch((err: unknown) => log.error({ err, requestId: sender.requestId }, 'a refusal was not noted'))
    },
  }
}
