/** Makes the URLs at which telephone carriers, the simulated carrier and SIP trunks reach this server. */
import type { LineName } from '../domain/ports/phone-line.ts'
import type { ParleyConfig } from '../generated/config/types.ts'

type Addressed = { config: Pick<ParleyConfig, 'publicUrl' | 'nodeUrl'>; localUrl: () => string }

/**
 * Returns a line's URLs; a line is a carrier, the simulated carrier or a SIP trunk. The line sends events to
 * `webhooks`, and calls' audio to media sockets below `sockets`. A media socket must reach the machine running its
 * call, but every machine accepts events.
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
