/** Starts two processes of the built program that share a database and a data folder. */
import type { Test } from 'tap'
import { freshDataDir } from '../installation.ts'
import { loopbackProviders } from '../session/voice-session.ts'
import type { TestCluster } from '../store/cluster.ts'
import { type Running, startParley } from './parley.ts'

export async function pair(
  t: Test,
  cluster: TestCluster,
  env: Record<string, string> = {},
): Promise<[Running, Running]> {
  const shared = {
    PARLEY_PROVIDERS: loopbackProviders,
    PARLEY_MASTER_KEY: 'm'.repeat(32),
    DATABASE_URL: await cluster.database('empty'),
    ...env,
  }
  const dataDir = freshDataDir()
  const start = async () => {
    const node = await startParley(shared, dataDir)
    t.teardown(() => node.remove())
    return node
  }
  return [await start(), await start()]
}
