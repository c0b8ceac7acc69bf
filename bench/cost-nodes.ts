/**
 * Starts two Parley servers on one Postgres, and on one Redis if `redis-server` is available. The first server is
 * measured, and the second is idle.
 */
import { rmSync } from 'node:fs'
import type { Sql } from 'postgres'
import { freshDataDir } from '../test/installation.ts'
import { databaseUrlOf, openDatabase } from '../test/process/database.ts'
import { type Running, startParley } from '../test/process/parley.ts'
import { missingRedis, startRedis } from '../test/redis/redis.ts'
import type { CountingRelay } from './counting-relay.ts'
import type { Counted } from './counts.ts'

export type CostNodes = { parley: Running; sql: Sql; counted: Counted; close(): Promise<void> }

const masterKey = 'm'.repeat(32)

export async function startCostNodes(
  env: Record<string, string>,
  relays: readonly CountingRelay[],
): Promise<CostNodes> {
  const closers: (() => unknown)[] = []
  const redis = (await missingRedis()) === false ? await startRedis({ teardown: (run) => closers.push(run) }) : null
  const shared = { ...env, PARLEY_MASTER_KEY: masterKey, ...(redis && { REDIS_URL: redis.url }) }
  const parley = await startParley(shared, freshDataDir())
  closers.push(() => parley.remove())
  const otherDir = freshDataDir()
  const other = await startParley(
    { ...shared, PARLEY_PORT: '0', DATABASE_URL: databaseUrlOf(parley.dataDir) },
    otherDir,
  )
  closers.push(async () => {
    await other.remove()
    rmSync(otherDir, { recursive: true, force: true })
  })
  const sql = openDatabase(parley.dataDir)
  closers.push(() => sql.end())
  // A limit too high to reach, so that requests and calls are counted as in production.
  await sql`update organizations set max_concurrency = 10000, max_sessions = 10000`
  const { pid, dataDir } = parley
  return {
    parley,
    sql,
    counted: { pid, dataDir, sql, redisUrl: redis?.url ?? null, relays },
    async close() {
      for (const close of closers.reverse()) await close()
    },
  }
}
