/**
 * `make test` starts more than a hundred servers in new folders. To make a cluster and its schema takes each of them
 * more than a second of a core, so test/run.mjs makes one and names it in PARLEY_TEST_CLUSTER, and a start copies it.
 * Where the variable is not set, a start makes its own.
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'

/** Copies the prepared cluster into a data folder that is empty. `cp` keeps its owner, which need not be this user. */
export async function copyCluster(dataDir: string): Promise<void> {
  const prepared = process.env['PARLEY_TEST_CLUSTER']
  if (prepared === undefined || !existsSync(dataDir) || readdirSync(dataDir).length > 0) return
  await promisify(execFile)('cp', ['-a', prepared, path.join(dataDir, 'postgres')])
}
