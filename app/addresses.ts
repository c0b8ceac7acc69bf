/** The addresses at which the lines of carriers reach this server. */
import type { LineName } from '../domain/ports/phone-line.ts'
import type { ParleyConfig } from '../generated/config/types.ts'

type Addressed = { config: Pick<ParleyConfig, 'publicUrl' | 'nodeUrl'>; localUrl: () => string }

/**
 * The addresses at which a line reaches this server. A socket must reach the machine that expects it, while every machine takes
 * events.
 */
export function addressesFor(
  line: LineName,
  { config: { publicUrl, nodeUrl }, localUrl }: Addressed,
): { webhooks: string; sockets: string } {
  const isHere = line === 'simulator'
  const all = isHere ? localUrl() : (publicUrl ?? nodeUrl ?? localUrl())
  const node = isHere ? localUrl() : (nodeUrl ?? publicUrl ?? localUrl())
  return {
    webhooks: `${all.replace(/\/+$/, '')}/carrier/${line}/webhooks`,
    sockets: node.replace(/\/+$/, '').replace(/^http/, 'ws'),
  }
}
