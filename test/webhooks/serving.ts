/** A started Parley with an organization whose endpoints are on this machine. */
import type { Test } from 'tap'
import { openAdministration } from '../platform/setup.ts'
import { databaseUrlOf, openDatabase } from '../process/database.ts'
import { freshDataDir, type Running, startParley } from '../process/parley.ts'
import { type Emitter, openEmitter } from './load.ts'
import { type EndpointColumns, insertEndpoint } from './recorded.ts'

export type Serving = Emitter & {
  parley: Running
  sql: ReturnType<typeof openDatabase>
  endpoint(url: string, columns?: EndpointColumns): Promise<string>
  /** Kills the process and starts another one. */
  restart(): Promise<void>
  kill(): Promise<void>
}

/** The master key is given, so that another process reads what one has sealed. */
const keyAndSubnets = { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8', PARLEY_MASTER_KEY: 'm'.repeat(32) }

export async function startServing(t: Test, more: NodeJS.ProcessEnv = {}): Promise<Serving> {
  const env = { ...keyAndSubnets, ...more }
  const dataDir = freshDataDir()
  let parley = await startParley(env, dataDir)
  t.teardown(() => parley.remove())
  const administration = await openAdministration(parley)
  const { id: organizationId } = await administration.organization('with webhooks')
  await administration.close()
  const tenant = { organizationId, test: false }
  const sql = openDatabase(dataDir)
  const emitter = openEmitter(databaseUrlOf(dataDir), tenant)
  t.teardown(() => Promise.all([sql.end({ timeout: 1 }), emitter.close()]))
  return {
    ...emitter,
    sql,
    get parley() {
      return parley
    },
    endpoint: (url, columns) => insertEndpoint(sql, tenant, url, Date.now(), columns),
    kill: () => parley.kill(),
    async restart() {
      parley = await startParley(env, dataDir)
    },
  }
}

/** Whether the full size is wanted, which takes minutes: `make test-webhooks`. */
export const isFullSize = process.env['PARLEY_TEST_SLOW'] !== undefined
