/**
 * Row level security is the second line behind the organization_id in every query: a policy on each table shows
 * only the rows of `app.organization`, and nothing where that is not set. All work for one organization goes
 * through here. Batches of the hot path do not: they hold rows of many organizations in one statement, and a
 * transaction that sets the organization would cost each three more round trips. Their pool says `*` when it
 * connects. Tables of resources that live and test keys do not share have a policy for `app.world` too.
 */
import type { Tenant } from '../../domain/records/organization.ts'
import type { Sql, Tx } from './connect.ts'
import { asFault } from './unavailable.ts'

/** How a repository reaches its rows: with a transaction for each call, or with one that several repositories share. */
export type Tenancy = {
  asOrganization<T>(organizationId: string, run: (tx: Tx) => Promise<T>): Promise<T>
  /** For the operator's work: every organization is seen, in both worlds. */
  asOperator<T>(run: (tx: Tx) => Promise<T>): Promise<T>
  /**
   * For what a repository remembers in memory: runs `then` once the writes of its last call are committed, and
   * never after a rollback.
   */
  afterCommit(then: () => void): void
}

/** How a repository reaches rows that belong to a world of an organization. */
export type Worlds = { asTenant<T>(tenant: Tenant, run: (tx: Tx) => Promise<T>): Promise<T> }

/** Every statement of `run` reads the rows as they were at one moment. Nothing is written. */
export type Snapshots = { asTenantAtOnce<T>(tenant: Tenant, run: (tx: Tx) => Promise<T>): Promise<T> }

export const everyOrganization = '*'

/** Postgres, "Transaction Isolation": by default each statement sees what was committed before it. */
const snapshot = 'isolation level repeatable read read only'

export function transactionEach(sql: Sql): Tenancy & Worlds & Snapshots {
  const worldOf = ({ test }: Tenant) => (test ? 'test' : 'live')
  return {
    asTenant: (tenant, run) => begin(sql, organizationOnly(tenant.organizationId), run, worldOf(tenant)),
    asTenantAtOnce: (tenant, run) =>
      begin(sql, organizationOnly(tenant.organizationId), run, worldOf(tenant), snapshot),
    asOrganization: (organizationId, run) => begin(sql, organizationOnly(organizationId), run),
    asOperator: (run) => begin(sql, everyOrganization, run),
    afterCommit: (then) => then(),
  }
}

/** One transaction for all that `work` does for one organization (see `transactionOfAll`). */
export function transactionFor<T>(
  sql: Sql,
  organizationId: string,
  work: (tenancy: Tenancy) => Promise<T>,
): Promise<T> {
  return transactionOfAll(sql, organizationOnly(organizationId), work)
}

/**
 * One transaction for all that `work` does through the tenancy that it is handed: either all of it is committed, or
 * nothing when `work` or a statement of it fails. `scope` is an organization or `everyOrganization`. A call for
 * another organization is refused.
 */
export async function transactionOfAll<T>(
  sql: Sql,
  scope: string,
  work: (tenancy: Tenancy, tx: Tx) => Promise<T>,
): Promise<T> {
  const committed: (() => void)[] = []
  let isOpen = true
  const answer = await begin(sql, scope, (tx) => {
    function run<U>(wanted: string, statements: (tx: Tx) => Promise<U>): Promise<U> {
      if (!isOpen) throw new Error('the transaction has ended')
      if (scope !== everyOrganization && wanted !== scope) throw new Error('not the organization of this transaction')
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

/** Transactions under way by pool, those that wait for a connection included. */
const underWay = new WeakMap<Sql, number>()

export function transactionsUnderWay(sql: Sql): number {
  return underWay.get(sql) ?? 0
}

/** The empty world shows no row that belongs to one. Throws the fault store_unreachable where the database is away. */
async function begin<T>(
  sql: Sql,
  scope: string,
  run: (tx: Tx) => Promise<T>,
  world: 'live' | 'test' | '*' | '' = scope === everyOrganization ? '*' : '',
  options = '',
): Promise<T> {
  underWay.set(sql, transactionsUnderWay(sql) + 1)
  try {
    const result = await sql.begin(options, async (tx) => {
      await tx`select set_config('app.organization', ${scope}, true), set_config('app.world', ${world}, true)`
      return { value: await run(tx) }
    })
    return result.value
  } catch (error) {
    throw asFault(error)
  } finally {
    underWay.set(sql, transactionsUnderWay(sql) - 1)
  }
}
