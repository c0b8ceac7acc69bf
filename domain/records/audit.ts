/** The audit log of the changes that people, API keys and commands make in an organization. */

/**
 * The author of a change: a person, an API key, the operator (by a command that changes the database directly) or the
 * server. Only a person and a key have an id.
 */
export type Actor = { type: 'user' | 'api_key' | 'operator' | 'system'; id: string | null }

export const operator: Actor = { type: 'operator', id: null }

/** Returns the actor for a caller, who is a person if there is a role. */
export function actorOf({ role, keyId }: { role?: string; keyId: string }): Actor {
  return { type: role === undefined ? 'api_key' : 'user', id: keyId }
}

export type AuditTarget = { type: string; id: string; name: string | null }
export type AuditSource = { ip: string | null; userAgent: string | null; via: 'console' | 'api' | 'cli' }

/** The values before and after, by field. */
export type AuditValues = Record<string, readonly [before: string | null, after: string | null]>

export type NewAuditEvent = {
  organizationId: string
  actor: Actor
  /** An action in the contract's list, such as `key.created`. */
  action: string
  target: AuditTarget | null
  /** The changed fields' names. */
  changed: readonly string[]
  values?: AuditValues
  source: AuditSource
  result: 'succeeded' | 'denied'
  requestId: string | null
}

export type AuditEvent = NewAuditEvent & { id: string; occurredAt: Date; values: AuditValues | null }

export const changedMax = 64
export const userAgentCharactersMax = 256

/** Makes the event for an operator's command on the database. */
export function commandEvent(organizationId: string, action: string, target: AuditTarget): NewAuditEvent {
  const source: AuditSource = { ip: null, userAgent: null, via: 'cli' }
  return { organizationId, actor: operator, action, target, changed: [], source, result: 'succeeded', requestId: null }
}

/** A request's event. The request's first transaction with a change stores it, or it is stored after the response. */
export type AuditEntry = {
  id: string
  beganAt: Date
  event: NewAuditEvent
  /** False once the request has its response. Later transactions do not store the event. */
  isOpen: boolean
  isStored: boolean
  /** True if the request changes nothing, although its operation may. The log has no event then. */
  isLeftOut?: boolean
}

/**
 * The audit entries by caller and by tenant. They are not fields of callers and tenants, because these are copied into
 * records, rows and JSON.
 */
const entries = new WeakMap<object, AuditEntry>()

/** Copies the caller. The copy carries the entry. */
export function withEntry<Caller extends object>(caller: Caller, entry: AuditEntry): Caller {
  return carry({ ...caller }, entry)
}

/** Returns a caller's or a tenant's entry. */
export function entryOf(carrier: object): AuditEntry | undefined {
  return entries.get(carrier)
}

/** Makes `carrier` carry the entry, if there is one, and returns it. */
export function carry<Carrier extends object>(carrier: Carrier, entry: AuditEntry | undefined): Carrier {
  if (entry !== undefined) entries.set(carrier, entry)
  return carrier
}

/** Leaves the request out of the log, because the request changes nothing. Its refusal is logged all the same. */
export function leaveOut(carrier: object): void {
  const entry = entries.get(carrier)
  if (entry !== undefined) Object.assign(entry, { isOpen: false, isLeftOut: true })
}

/** Adds a field's values before and after to the caller's event. */
export function noteValues(caller: object, field: string, before: string | null, after: string | null): void {
  const entry = entryOf(caller)
  if (entry) entry.event = { ...entry.event, values: { ...entry.event.values, [field]: [before, after] } }
}

/** The position of the last event on the previous page. */
export type AuditPosition = { occurredAtMs: number; id: string }

export type AuditFilter = {
  actorId?: string
  actorType?: Actor['type']
  /** One action (`key.created`), or all actions with this beginning (`key.*`). */
  action?: string
  targetType?: string
  targetId?: string
  result?: NewAuditEvent['result']
  fromMs?: number
  toMs?: number
}

export type AuditPage = { events: readonly AuditEvent[]; next: AuditPosition | null }

export interface AuditLog {
  add(event: NewAuditEvent): Promise<void>
  /** Stores an event unless the same actor had the same action and target within the last hour. */
  addHourly(event: NewAuditEvent): Promise<void>
  /** Ends an entry after the request's response: stores the event, or completes the stored event. */
  finish(entry: AuditEntry): Promise<void>
  /** Removes a stored entry, because the request was refused after all and its change was taken back. */
  abandon(entry: AuditEntry): Promise<void>
  list(organizationId: string, filter: AuditFilter, limit: number, after: AuditPosition | null): Promise<AuditPage>
}
