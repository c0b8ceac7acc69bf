/**
 * Recognizes a server that only this machine can reach. Such a server needs no configured API key, and its tools may be
 * at loopback addresses.
 */
import type { ParleyConfig } from '../generated/config/types.ts'
import { isLoopbackHost } from '../runtime/engine/host.ts'

type Reach = Pick<ParleyConfig, 'host' | 'publicUrl' | 'trustedProxies' | 'nodeUrl'>

/**
 * True if only programs on this machine can reach the server. Behind a local proxy or tunnel, a remote client has a
 * loopback address too. Each of these settings shows that a proxy exists. Without these settings, a proxy cannot be
 * detected if it adds no header.
 */
export function isReachedHereOnly({ host, publicUrl, trustedProxies, nodeUrl }: Reach): boolean {
  return isLoopbackHost(host) && publicUrl === null && nodeUrl === null && trustedProxies.length === 0
}

const loopback = ['127.0.0.0/8', '::1/128']

/**
 * Allows requests to loopback addresses in a first local run, because the user develops tools and webhook receivers on
 * the same machine. With a deployer's Postgres there may be organizations without a right to reach this machine.
 */
export function withLoopbackTools(config: ParleyConfig): ParleyConfig {
  if (!isReachedHereOnly(config) || config.databaseUrl !== null) return config
  const { outbound } = config
  return { ...config, outbound: { ...outbound, allowedSubnets: [...outbound.allowedSubnets, ...loopback] } }
}
