/**
 * Relays client sockets between processes on one machine: to the process with the socket's session, and from other
 * processes.
 */

import type { Shares } from '../../shares/owners.ts'
import type { Clock, RelaySettings } from '../options.ts'
import { makeSocketFolder, removeStale } from './folder.ts'
import { RelayClient, type RelayLimits } from './outgoing.ts'
import { listenForRelays, type RelayOwnerDeps } from './owner.ts'

export type Relay = { client: RelayClient; close(): Promise<void> }

/** Opens the relay in both directions. Rejects if no folder for sockets can be made. */
export async function openRelay(
  { dataDir, name }: RelaySettings,
  deps: { clock: Clock; limits: RelayLimits; shares: Shares; admit: RelayOwnerDeps['admit'] },
): Promise<Relay> {
  const folder = makeSocketFolder(dataDir, name)
  await removeStale(folder)
  const listener = await listenForRelays(folder, name, deps)
  return { client: new RelayClient(folder, deps.clock, deps.limits, deps.shares), close: listener.close }
}
