/**
 * Stores HTTP responses in the rows of their idempotency keys, for repeated requests. A response is deleted with its
 * row.
 *
 * While a request runs, its process renews the key's lease. So if the lease has run out and there is no response, the
 * response is lost, or late because the database was unreachable. So a repeated request need not wait until the key
 * expires.
 */
import type { KeyUse } from '../../domain/idempotency/idempotency.ts'
import type { StoredAnswer, StoredAnswers } from '../../domain/idempotency/stored-answers.ts'
import type { Clock } from '../../domain/ports/system.ts'
import type { Sql } from '../postgres/connect.ts'
import { inTime, onReturn } from '../postgres/outage.ts'
import { isUnreachable } from '../postgres/unavailable.ts'
import { ofUses, ownedBy } from './key-match.ts'

/** A response with this HTTP status or a higher one is a failure. */
const refusalLeast = 400
/** The maximum number of responses that wait for the database. Beyond this, responses are lost. */
const lateMax = 1_000
const renewedMax = 256

export type StoredAnswersOptions = {
  leaseMs: number
  /** Stores the key again if the database has lost the key in a crash. */
  restoreKey: (use: KeyUse) => Promise<void>
}

export type AnswersInStore = StoredAnswers & {
  /** Renews the leases of running requests, and stores responses that could not be stored before. */
  renew(): Promise<void>
}

type Late = { use: KeyUse; answer: StoredAnswer }

export function createStoredAnswers(
  sql: Sql,
  clock: Clock,
  { leaseMs, restoreKey }: StoredAnswersOptions,
): AnswersInStore {
  const running = new Set<KeyUse>()
  const late = new Set<Late>()
  let storing: Promise<void> | null = null

  async function storeLate(): Promise<void> {
    try {
      for (const entry of late) {
        const restored = async () => {
          await restoreKey(entry.use)
          await store(sql, clock, entry)
        }
        await inTime(sql, restored).catch((error: unknown) => {
          if (isUnreachable(error)) throw error
        })
        late.delete(entry)
      }
    } finally {
      storing = null
    }
  }

  const storeAgain = () => (late.size === 0 ? Promise.resolve() : (storing ??= storeLate()))

  /**
   * Leases are renewed first, because storing late responses may take long or fail. Without a renewed lease, a repeated
   * request would be answered as if the running request's response were lost.
   */
  async function renew(): Promise<void> {
    const until = new Date(clock.nowMs() + leaseMs)
    const uses = [...running]
    for (let at = 0; at < uses.length; at += renewedMax)
      await inTime(sql, () => extendLeases(sql, uses.slice(at, at + renewedMax), until))
    await storeAgain()
  }

  onReturn(sql, () => void renew().catch(() => {}))

  return {
    begin(use) {
      running.add(use)
      return () => void running.delete(use)
    },
    async keep(use, answer) {
      const entry = { use, answer }
      await inTime(sql, () => store(sql, clock, entry)).catch((error: unknown) => {
        if (isUnreachable(error) && late.size < lateMax) late.add(entry)
        throw error
      })
    },
    find: (use) => inTime(sql, () => find(sql, clock, use)),
    renew,
  }
}

async function store(sql: Sql, clock: Clock, { use, answer: { status, body } }: Late): Promise<void> {
  await sql`
    update idempotency_keys k set status = ${status < refusalLeast ? 'succeeded' : 'failed'},
      finished_at = ${new Date(clock.nowMs())}, answer_status = ${status}, answer_body = ${body}
    where ${ofUses(sql, [use])} and ${ownedBy(sql, [use])} and k.status = 'dispatched'`
}

async function find(sql: Sql, clock: Clock, use: KeyUse): Promise<StoredAnswer | 'running' | 'lost'> {
  const [row] = await sql<{ status: number | null; body: string | null; isLeased: boolean }[]>`
    select answer_status as status, answer_body as body, lease_until > ${new Date(clock.nowMs())} as "isLeased"
    from idempotency_keys k where ${ofUses(sql, [use])}`
  // If there is no row, the first request has released the key in the meantime. The next repeated request finds the key
  // free.
  if (row === undefined) return 'running'
  const { status, body, isLeased } = row
  if (status !== null && body !== null) return { status, body }
  return isLeased ? 'running' : 'lost'
}

async function extendLeases(sql: Sql, uses: readonly KeyUse[], until: Date): Promise<void> {
  await sql`
    update idempotency_keys k set lease_until = ${until}
    where ${ofUses(sql, uses)} and ${ownedBy(sql, uses)} and k.status = 'dispatched'`
}
