/** Rules for the settings of a server that the schema cannot express. */
import { wrongAlias } from './domain/catalog/aliases.ts'
import type { ParleyConfig } from './generated/config/types.ts'
import { ConfigError, type Environment } from './runtime/config.ts'
import { chooseEngine } from './runtime/engine/choose.ts'
import { isLoopbackHost } from './runtime/engine/host.ts'
import { missingPackages, redisPackages, s3Packages } from './runtime/optional.ts'
import { isSubnet } from './runtime/outbound/address-guard.ts'
import { checkTracing } from './runtime/tracing.ts'
import { checkSip } from './sip-trunks.ts'
import { checkLiveKit } from './voice-sessions.ts'

/** Throws ConfigError. */
export function checkServing(config: ParleyConfig, env: Environment): void {
  checkExposure(config)
  checkAliases(config)
  checkSharing(config)
  checkSubnets(config)
  checkPackages(config)
  checkLiveKit(config)
  checkSip(config)
  checkTracing(env)
  chooseEngine(config.engine)
}

function checkExposure({ host, masterKey }: ParleyConfig): void {
  if (masterKey !== null || isLoopbackHost(host)) return
  throw new ConfigError(
    `PARLEY_MASTER_KEY: is required when the host is not loopback (it is ${host}); 32 characters or more`,
  )
}

function checkAliases({ aliases }: ParleyConfig): void {
  const wrong = wrongAlias(aliases)
  if (wrong !== null) throw new ConfigError(`aliases: ${wrong}`)
}

/** The engine can share a port between processes only when the port has a number. */
function checkSharing({ port, processes }: ParleyConfig): void {
  if (port !== 0 || processes === 1) return
  throw new ConfigError(`PARLEY_PORT: 0 leaves the choice to the system, which ${processes} processes cannot share`)
}

function checkSubnets({ outbound }: ParleyConfig): void {
  const wrong = outbound.allowedSubnets.find((text) => !isSubnet(text))
  if (wrong === undefined) return
  throw new ConfigError(`outbound.allowedSubnets: ${wrong} is no range such as 10.0.0.0/8`)
}

/** Throws ConfigError. */
function checkPackages({ s3, redisUrl }: ParleyConfig): void {
  if (s3.bucket !== null) refuseMissing('PARLEY_S3_BUCKET', s3Packages)
  if (redisUrl !== null) refuseMissing('REDIS_URL', redisPackages)
}

function refuseMissing(setting: string, packages: readonly string[]): void {
  const missing = missingPackages(packages)
  if (missing.length === 0) return
  throw new ConfigError(`${setting}: needs packages that are not installed: npm install ${missing.join(' ')}`)
}
