/**
 * Row level security is the second barrier, after the organization_id in every query. Each table's policy shows only
 * rows with the organization `app.organization`, and no rows if it is not set. All work for one organization goes
 * through this file. Batches on the hot path do not go through it: one statement has rows for many organizations, and a
 * transaction to set the organization would add three round trips to each statement. The pool for batches sets
 * `app.organization` to `*` (every organization) when it connects. If live and test keys do not share a resource, its
 * table has a policy for `app.world` too.
 */
import { type AuditEntry, entryOf } from '../../domain/records/audit.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { storeEntry } from './audit-rows.ts'
import type { Sql, Tx } from './connect.ts'
import { guard } from './outage.ts'

/** Gives a repository access to its rows: a transaction for each call, or one transaction for several repositories. */
export type Tenancy = {
  /** `entry` is stored in the transaction if the transaction writes something. */
  asOrganization<T>(organizationId: string, run: (tx: Tx) => Promise<T>, entry?: AuditEntry): Promise<T>
  /** Runs the operator's work, which sees every organization's live and test rows. */
  asOperator<T>(run: (tx: Tx) => Promise<T>): Promise<T>
  /** For a repository's cache: runs `then` after its last call's writes are committed, and never after a rollback. */
  afterCommit(then: () => void): void
}

/** Gives a repository access to an organization's live or test rows. */
export type Worlds = { asTenant<T>(tenant: Tenant, run: (tx: Tx) => Promise<T>): Promise<T> }

/** Runs only reads, and all statements in `run` read one snapshot. */
export type Snapshots = { asTenantAtOnce<T>(tenant: Tenant, run: (tx: Tx) => Promise<T>): Promise<T> }

export const everyOrganization = '*'

const worldOf = ({ test }: Tenant) => (test ? 'test' : 'live')

/** Returns a tenant's name for notifications. */
export const nameOf = (tenant: Tenant) => `${tenant.organizationId} ${worldOf(tenant)}`

/**
 * Makes all statements read one snapshot. By default each statement sees all earlier commits (Postgres, "Transaction
 * Isolation").
 */
const snapshot = 'isolation level repeatable read read only'

export function transactionEach(sql: Sql): Tenancy & Worlds & Snapshots {
  return {
    asTenant: (tenant, run) =>
      audited(entryOf(tenant), run, (work) =>
        begin(sql, organizationOnly(tenant.organizationId), work, worldOf(tenant)),
      ),
    asTenantAtOnce: (tenant, run) =>
      begin(sql, organizationOnly(tenant.organizationId), run, worldOf(tenant), snapshot),
    asOrganization: (organizationId, run, entry) =>
      audited(entry, run, (work) => begin(sql, organizationOnly(organizationId), work)),
    asOperator: (run) => begin(sql, everyOrganization, run),
    afterCommit: (then) => then(),
  }
}

type Transaction = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/** Stores the request's audit entry in the transaction, if there is one and the transaction writes a row. */
function audited<T>(entry: AuditEntry | undefined, run: (tx: Tx) => Promise<T>, transaction: Transaction): Promise<T> {
  return entry?.isOpen && !entry.isStored ? withEntry(entry, run, transaction) : transaction(run)
}

async function withEntry<T>(entry: AuditEntry, run: (tx: Tx) => Promise<T>, transaction: Transaction): Promise<T> {
  const { value, isStored } = await transaction(async (tx) => {
    const value = await run(tx)
    return { value, isStored: await storeEntry(tx, entry) }
  })
  if (isStored) entry.isStored = true
  return value
}

/** Runs `work` for one organization in one transaction (see `transactionOfAll`). */
export function transactionFor<T>(
  sql: Sql,
  organizationId: string,
  work: (tenancy: Tenancy) => Promise<T>,
): Promise<T> {
  return transactionOfAll(sql, organizationOnly(organizationId), work)
}

/**
 * Runs `work` in one transaction. If `work` or one of its statements through the tenancy fails, nothing is committed.
 * `scope` is an organization or `everyOrganization`. A call for another organization throws.
 */
export async function transactionOfAll<T>(
  sql: Sql,
  scope: string,
  work: (tenancy: Tenancy, tx: Tx) => Promise<T>,
): Promise<T> {
  const committed: (() => void)[] = []
  let isOpen = true
  const answer = await begin(sql, scope, (tx) => {
    function run<U>(requestedScope: string, statements: (tx: Tx) => Promise<U>): Promise<U> {
      if (!isOpen) throw new Error('the transaction has ended')
      if (scope !== everyOrganization && requestedScope !== scope)
        throw new Error('not the organization of this transaction')
      return statements(tx)
    }
    const tenancy: Tenancy = {
      asOrganization: (organizationId, statements) => run(organizationOnly(organizationId), statements),
      asOperator: (statements) => run(everyOrganization, statements),
      afterCommit: (then) => void committed.push(then),
    }
    return work(tenancy, tx).finally(() => {
      isOpen = false
    })
  })
  for (const then of committed) then()
  return answer
}

function organizationOnly(organizationId: string): string {
  if (organizationId === everyOrganization) throw new Error('not an organization id')
  return organizationId
}

/** Counts open transactions by pool, including transactions in the queue for a connection. */
const underWay = new WeakMap<Sql, number>()

export function transactionsUnderWay(sql: Sql): number {
  return underWay.get(sql) ?? 0
}

/**
 * Begins a transaction. If `world` is empty, the transaction sees only rows that live and test keys share. Throws the
 * fault store_unreachable if the database is unreachable.
 */
async function begin<T>(
  sql: Sql,
  scope: string,
  run: (tx: Tx) => Promise<T>,
  world: 'live' | 'test' | '*' | '' = scope === everyOrganization ? '*' : '',
  options = '',
): Promise<T> {
  underWay.set(sql, transactionsUnderWay(sql) + 1)
  try {
    return await guard(sql, {
      async run(state) {
        const result = await sql.begin(options, async (tx) => {
          if (state.isRefused) throw refusedMeanwhile()
          await tx`select set_config('app.organization', ${scope}, true), set_config('app.world', ${world}, true)`
          const value = await run(tx)
          if (state.isRefused) throw refusedMeanwhile()
          return { value }
        })
        return result.value
      },
    })
  } finally {
    underWay.set(sql, transactionsUnderWay(sql) - 1)
  }
}

/** This error causes a rollback. No code receives the error, because the calling code was answered before. */
const refusedMeanwhile = () => new Error('the transaction was refused while it was under way')
