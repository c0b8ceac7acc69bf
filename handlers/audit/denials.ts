/** Notes in the audit log that a person was refused for a too low role. */
import type { Clock, Log } from '../../domain/ports/system.ts'
import { type AuditLog, actorOf } from '../../domain/records/audit.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { type Sender, sourceOf } from './events.ts'

export type Denials = ReturnType<typeof createDenials>

type DenialDeps = { audit: Pick<AuditLog, 'add'>; clock: Clock; log: Pick<Log, 'error'> }

/** One refusal a minute is noted for a person and an operation, because a page may repeat a request. */
const minuteMs = 60_000
/** The most pairs of a person and an operation that are remembered. If there are more, the oldest is forgotten. */
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
    /** Never rejects. API keys are not noted. */
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
