/**
 * Writes operations to the audit log. The contract names the audited operations and their actions (`x-audit`). The
 * handler's `caller` carries the audit entry to the store, so one transaction stores both the change and the entry.
 */
import type { Clock, Log } from '../../domain/ports/system.ts'
import { type AuditEntry, type AuditLog, leaveOut, type NewAuditEvent, withEntry } from '../../domain/records/audit.ts'
import type { Caller } from '../../domain/records/organization.ts'
import { type Context, type Handler, type Input, Refusal, type Result } from '../../runtime/engine/handler.ts'
import type { Operation } from '../../runtime/engine/operation.ts'
import type { Mount } from '../../runtime/engine/options.ts'
import { uniqueId } from '../../runtime/timing/clock.ts'
import type { Denials } from './denials.ts'
import { beginEvent, targetOf } from './events.ts'

export type AuditDeps = {
  audit: AuditLog
  denials: Denials
  clock: Clock
  log: Pick<Log, 'error'>
  /** Returns the status of the answer to an error. */
  statusOf: (error: unknown) => number
}

/** Wraps each operation with an `x-audit` action. */
export function withAudit(mount: Mount, deps: AuditDeps): Mount {
  const handlers = { ...mount.handlers }
  for (const operation of mount.surface.operations) {
    const handler = handlers[operation.id]
    if (handler && operation.audit !== undefined) handlers[operation.id] = audited(operation, handler, deps)
  }
  return { ...mount, handlers }
}

function audited(operation: Operation, handler: Handler, deps: AuditDeps): Handler {
  return async (input, context) => {
    const caller = context.caller as Caller
    const isRead = operation.method === 'get'
    // Programs read all day, so only reads by a person (a client with a role) are logged.
    if (isRead && caller.role === undefined) return handler(input, context)
    const event = beginEvent(operation, input, context, caller)
    const entry: AuditEntry = {
      ...{ id: `audit_${uniqueId()}`, beganAt: new Date(deps.clock.nowMs()), event },
      ...{ isOpen: !isRead, isStored: false },
    }
    const carrier = withEntry(caller, entry)
    if (isEmptyChange(operation, input)) leaveOut(carrier)
    context.caller = carrier
    try {
      const result = await handler(input, context)
      await settled(deps, context, () => succeed(operation, entry, input, result, deps))
      return result
    } catch (error) {
      await settled(deps, context, () => fail(entry, error, { operation, caller, context }, deps))
      throw error
    } finally {
      entry.isOpen = false
    }
  }
}

/** A PATCH changes the fields in its body, so an empty body changes nothing. Its refusals are logged all the same. */
const isEmptyChange = ({ method }: Operation, { body }: Input) =>
  method === 'patch' && typeof body === 'object' && body !== null && Object.keys(body).length === 0

/**
 * Stores the audit event with `work`. A failure is only logged, because the client must get the operation's response.
 */
async function settled({ log }: AuditDeps, { requestId }: Context, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (err) {
    log.error({ err, requestId }, 'an event of the audit log was not stored')
  }
}

async function succeed(operation: Operation, entry: AuditEntry, input: Input, result: Result, { audit }: AuditDeps) {
  entry.isOpen = false
  // This is a stored response for a repeated idempotency key. The first request has stored the event.
  if (result.headers?.['Idempotent-Replayed'] !== undefined) return
  if (entry.isLeftOut) {
    // A transaction of the request may have stored the event, such as the lock of a registration.
    if (entry.isStored) await audit.abandon(entry)
    return
  }
  entry.event = { ...entry.event, target: targetOf(operation, input, result.body, entry.event) }
  if (hourly.has(entry.event.action)) await audit.addHourly(entry.event)
  else await audit.finish(entry)
}

/**
 * These actions are stored at most once an hour, because an audio player fetches a recording in many range requests.
 */
const hourly: ReadonlySet<NewAuditEvent['action']> = new Set(['recording.played'])

type Failed = { operation: Operation; caller: Caller; context: Context }

/**
 * Removes a refused request's audit event: a refusal (4xx) means that nothing was changed, or that a committed change
 * was undone. After any other error the change may persist, so the event stays.
 */
async function fail(entry: AuditEntry, error: unknown, { operation, caller, context }: Failed, deps: AuditDeps) {
  entry.isOpen = false
  if (entry.isStored && (entry.isLeftOut || deps.statusOf(error) < 500)) await deps.audit.abandon(entry)
  if (error instanceof Refusal && error.kind === 'forbidden') await deps.denials.note(caller, operation, context)
}
