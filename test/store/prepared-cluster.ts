/**
 * `make test` starts more than a hundred servers in new folders. Making a cluster and its schema takes more than a
 * second on a core each time. So test/run.mjs makes one cluster and names it in PARLEY_TEST_CLUSTER, and each start
 * copies it. If the variable is not set, a start makes a cluster.
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'

/** Copies the prepared cluster into an empty data folder. `cp` keeps its owner, which need not be this user. */
export async function copyCluster(dataDir: string): Promise<void> {
  const prepared = process.env['PARLEY_TEST_CLUSTER']
  if (prepared === undefined || !existsSync(dataDir) || readdirSync(dataDir).length > 0) return
  await promisify(execFile)('cp', ['-a', prepared, path.join(dataDir, 'postgres')])
}
