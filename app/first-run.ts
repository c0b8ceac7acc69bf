/** A server that only programs of this machine reach, and what such a server may do that no other one may. */
import type { ParleyConfig } from '../generated/config/types.ts'
import { isLoopbackHost } from '../runtime/engine/host.ts'

type Reach = Pick<ParleyConfig, 'host' | 'publicUrl' | 'trustedProxies' | 'nodeUrl'>

/**
 * Behind a proxy or a tunnel of this machine strangers have a loopback address too. Each of these settings says that there
 * is one; a proxy that adds no header cannot be noticed without them.
 */
export function isReachedHereOnly({ host, publicUrl, trustedProxies, nodeUrl }: Reach): boolean {
  return isLoopbackHost(host) && publicUrl === null && nodeUrl === null && trustedProxies.length === 0
}

const loopback = ['127.0.0.0/8', '::1/128']

/**
 * The user of a first local run develops tools and receivers of webhooks on the same machine, so their addresses may be
 * called. With a Postgres of the deployer the server may have organizations that must not reach this machine.
 */
export function withLoopbackTools(config: ParleyConfig): ParleyConfig {
  if (!isReachedHereOnly(config) || config.databaseUrl !== null) return config
  const { outbound } = config
  return { ...config, outbound: { ...outbound, allowedSubnets: [...outbound.allowedSubnets, ...loopback] } }
}
