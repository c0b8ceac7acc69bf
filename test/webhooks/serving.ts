/** The product in this process, and an organization with endpoints on this machine. */
import type { Test } from 'tap'
import { ownServer, type Settings } from '../server.ts'
import { keyAndSubnets, type Served, withEndpoints } from './served.ts'

export async function serving(t: Test, settings: Settings = {}): Promise<Served> {
  const server = await ownServer(t, { ...keyAndSubnets, ...settings })
  return withEndpoints(t, server, server)
}
