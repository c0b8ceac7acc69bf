/** Starts the built program with an organization whose webhook endpoints are receivers on this machine. */
import type { Test } from 'tap'
import { freshDataDir } from '../installation.ts'
import { keyAndSubnets, type Served, withEndpoints } from '../webhooks/served.ts'
import { type Running, startParley } from './parley.ts'

export type Serving = Served & {
  parley: Running
  /** Kills the process and starts it again. */
  restart(): Promise<void>
  kill(): Promise<void>
}

export async function startServing(t: Test, more: NodeJS.ProcessEnv = {}): Promise<Serving> {
  const env = { ...keyAndSubnets, ...more }
  const dataDir = freshDataDir()
  let parley = await startParley(env, dataDir)
  t.teardown(() => parley.remove())
  return {
    ...(await withEndpoints(t, parley, dataDir)),
    get parley() {
      return parley
    },
    kill: () => parley.kill(),
    async restart() {
      parley = await startParley(env, dataDir)
    },
  }
}
