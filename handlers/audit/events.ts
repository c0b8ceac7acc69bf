/** Makes audit events from requests and their responses. */
import {
  type AuditSource,
  type AuditTarget,
  actorOf,
  changedMax,
  type NewAuditEvent,
} from '../../domain/records/audit.ts'
import type { Caller } from '../../domain/records/organization.ts'
import type { Context, Input, Peer } from '../../runtime/engine/handler.ts'
import type { Operation } from '../../runtime/engine/operation.ts'

export type Sender = Pick<Context, 'requestId' | 'peer'>

type Fields = Readonly<Record<string, unknown>>

/** The command line sends this name as User-Agent. */
const commandLine = 'parley-cli'

export function beginEvent(operation: Operation, input: Input, sender: Sender, caller: Caller): NewAuditEvent {
  const event: NewAuditEvent = {
    organizationId: caller.organization.id,
    actor: actorOf(caller),
    action: operation.audit ?? '',
    target: null,
    changed: isFields(input.body) ? Object.keys(input.body).slice(0, changedMax) : [],
    source: sourceOf(sender.peer),
    result: 'succeeded',
    requestId: sender.requestId,
  }
  return { ...event, target: targetOf(operation, input, null, event) }
}

export function sourceOf({ source, userAgent, usesCookie }: Peer): AuditSource {
  const via = usesCookie ? 'console' : userAgent.startsWith(commandLine) ? 'cli' : 'api'
  return { ip: source, userAgent: userAgent === '' ? null : userAgent, via }
}

/**
 * Finds the changed resource. A created resource has its id in the response, and an existing resource is named by the
 * last path parameter. The resource's name is in the response. A provider key has no id, so the provider's name is
 * used.
 */
export function targetOf(
  { audit, pathParams }: Operation,
  { path, body }: Input,
  answer: unknown,
  { target }: NewAuditEvent,
): AuditTarget | null {
  const [type = ''] = (audit ?? '').split('.')
  const fields = isFields(answer) ? answer : {}
  const made = created.test(audit ?? '') ? textOf(fields, 'id') : null
  const sent = isFields(body) ? textOf(body, 'provider') : null
  const id = made ?? path[pathParams.at(-1) ?? ''] ?? textOf(fields, 'id') ?? sent ?? target?.id ?? null
  const name = textOf(fields, 'name') ?? textOf(fields, 'e164') ?? textOf(fields, 'email')
  return id === null ? null : { type, id, name }
}

const created = /\.(created|purchased|imported)$/

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(fields: Fields, field: string): string | null {
  const value = fields[field]
  return typeof value === 'string' ? value : null
}
