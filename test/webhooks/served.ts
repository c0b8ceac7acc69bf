/** An organization with webhook endpoints on this machine. */
import type { Test } from 'tap'
import { openAdministration } from '../platform/setup.ts'
import { type DatabaseOf, databaseUrlOf, openDatabase } from '../process/database.ts'
import { type Emitter, openEmitter } from './load.ts'
import { type EndpointColumns, insertEndpoint } from './recorded.ts'

export type Served = Emitter & {
  sql: ReturnType<typeof openDatabase>
  endpoint(url: string, columns?: EndpointColumns): Promise<string>
}

/** The master key is fixed, so processes can open each other's sealed secrets. */
export const keyAndSubnets = { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8', PARLEY_MASTER_KEY: 'm'.repeat(32) }

export async function withEndpoints(
  t: Test,
  parley: Parameters<typeof openAdministration>[0],
  database: DatabaseOf,
): Promise<Served> {
  const administration = await openAdministration(parley)
  const { id: organizationId } = await administration.organization('with webhooks')
  await administration.close()
  const tenant = { organizationId, test: false }
  const sql = openDatabase(database)
  const emitter = openEmitter(databaseUrlOf(database), tenant)
  t.teardown(() => Promise.all([sql.end({ timeout: 1 }), emitter.close()]))
  return { ...emitter, sql, endpoint: (url, columns) => insertEndpoint(sql, tenant, url, Date.now(), columns) }
}

/** True if the tests run with all their kills and events, which takes minutes: `make test-all LANE=webhooks`. */
export const isFullSize = process.env['PARLEY_TEST_SLOW'] !== undefined
