/** Recognizes a server for this machine alone, and gives it special permissions. */
import type { ParleyConfig } from '../generated/config/types.ts'
import { isLoopbackHost } from '../runtime/engine/host.ts'

type Reach = Pick<ParleyConfig, 'host' | 'publicUrl' | 'trustedProxies' | 'nodeUrl'>

/**
 * True if only programs on this machine can reach the server. Behind a local proxy or tunnel, strangers have a loopback
 * address too. Each of these settings shows that a proxy exists. Without them, a proxy that adds no header cannot be
 * noticed.
 */
export function isReachedHereOnly({ host, publicUrl, trustedProxies, nodeUrl }: Reach): boolean {
  return isLoopbackHost(host) && publicUrl === null && nodeUrl === null && trustedProxies.length === 0
}

const loopback = ['127.0.0.0/8', '::1/128']

/**
 * In a first local run, the user develops tools and webhook receivers on the same machine, so their addresses may be
 * called. With a deployer's Postgres there may be organizations without a right to reach this machine.
 */
export function withLoopbackTools(config: ParleyConfig): ParleyConfig {
  if (!isReachedHereOnly(config) || config.databaseUrl !== null) return config
  const { outbound } = config
  return { ...config, outbound: { ...outbound, allowedSubnets: [...outbound.allowedSubnets, ...loopback] } }
}
