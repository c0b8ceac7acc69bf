/** Rules for a server's settings that the schema cannot express. */
import { isIP } from 'node:net'
import { wrongAlias } from '../domain/records/aliases.ts'
import type { ParleyConfig } from '../generated/config/types.ts'
import { isLoopbackHost } from '../runtime/engine/host.ts'
import { liveKitPackages, missingPackages, redisPackages, s3Packages } from '../runtime/optional.ts'
import { isSubnet } from '../runtime/outbound/address-guard.ts'
import { ConfigError, type Environment } from '../runtime/process/config.ts'
import { chooseEngine } from '../runtime/server/choose.ts'
import { checkTracing } from '../runtime/telemetry/tracing.ts'

/** Checks a server's settings. Throws ConfigError if a setting is invalid. */
export function checkServing(config: ParleyConfig, env: Environment): void {
  checkExposure(config)
  checkAliases(config)
  checkSharing(config)
  checkSubnets(config)
  checkPackages(config)
  checkLiveKit(config)
  checkSip(config)
  checkSmtp(config)
  checkOidc(config)
  checkTracing(env)
  chooseEngine(config.engine)
}

function checkExposure({ host, masterKey, nodeUrl, databaseUrl }: ParleyConfig): void {
  if (masterKey !== null) return
  if (!isLoopbackHost(host))
    throw new ConfigError(
      `PARLEY_MASTER_KEY: is required when the host is not loopback (it is ${host}); 32 characters or more`,
    )
  // Without a common master key, each node would make a separate key, and could not open the other nodes' secrets and
  // tokens.
  if (nodeUrl !== null && databaseUrl !== null)
    throw new ConfigError(
      'PARLEY_MASTER_KEY: is required with nodeUrl: all nodes of a database have the same one, of 32 characters or more. A node that has made a key keeps it in the file master.key of its data folder: set that key on all nodes',
    )
}

function checkAliases({ aliases }: ParleyConfig): void {
  const wrong = wrongAlias(aliases)
  if (wrong !== null) throw new ConfigError(`aliases: ${wrong}`)
}

/** Throws ConfigError if several processes share port 0: the system would choose another port for each of them. */
function checkSharing({ port, processes }: ParleyConfig): void {
  if (port !== 0 || processes === 1) return
  throw new ConfigError(`PARLEY_PORT: 0 leaves the choice to the system, which ${processes} processes cannot share`)
}

function checkSubnets({ outbound }: ParleyConfig): void {
  const wrong = outbound.allowedSubnets.find((text) => !isSubnet(text))
  if (wrong === undefined) return
  throw new ConfigError(`outbound.allowedSubnets: ${wrong} is no range such as 10.0.0.0/8`)
}

function checkPackages({ s3, redisUrl }: ParleyConfig): void {
  if (s3.bucket !== null) refuseMissing('PARLEY_S3_BUCKET', s3Packages)
  if (redisUrl !== null) refuseMissing('REDIS_URL', redisPackages)
}

function checkLiveKit({ livekit: { url, apiKey, apiSecret } }: ParleyConfig): void {
  const isHalf = [url, apiKey, apiSecret].some((value) => value === null) && (url ?? apiKey ?? apiSecret) !== null
  if (isHalf) throw new ConfigError('livekit: url, apiKey and apiSecret belong together; one of them is not set')
  if (url !== null) refuseMissing('livekit.url', liveKitPackages)
}

function checkSmtp({ smtp: { host, from, user, password } }: ParleyConfig): void {
  if (host !== null && from === null) throw new ConfigError('smtp.from: is required with smtp.host')
  if ((user === null) !== (password === null))
    throw new ConfigError('smtp: user and password belong together; one of them is not set')
}

function checkOidc({ oidc }: ParleyConfig): void {
  for (const { id, issuer, domains = [], organization = null } of oidc) {
    if (oidc.filter((each) => each.id === id).length > 1) throw new ConfigError(`oidc: ${id} is there twice`)
    if (domains.length > 0 && organization === null)
      throw new ConfigError(`oidc: ${id} has domains, and so needs organization`)
    const { protocol, hostname } = new URL(issuer)
    if (protocol === 'http:' && !isLoopbackHost(hostname))
      throw new ConfigError(`oidc: the issuer of ${id} must be https, because it is on another machine`)
  }
}

/** Checks the settings for SIP trunks. Throws ConfigError if a setting is invalid. */
export function checkSip({ sip, processes }: Pick<ParleyConfig, 'sip' | 'processes'>): void {
  const { port, host, publicAddress } = sip
  if (port === null) return
  if (processes > 1)
    throw new ConfigError(
      `sip.port: needs one process, because a call belongs to the socket on which it came: set PARLEY_PROCESSES to 1 (it is ${processes}), or unset PARLEY_SIP_PORT`,
    )
  if (isIP(host) === 0) throw new ConfigError(`sip.host: ${host} is no IP address of this machine`)
  const address = publicAddress ?? host
  if (isIP(address) === 0) throw new ConfigError(`sip.publicAddress: ${address} is no IP address`)
  if (isEach(address))
    throw new ConfigError('sip.publicAddress: is required: the IP address at which trunks reach this machine')
  const { from, to } = rtpPortsOf(sip)
  if (from >= to || to > portMax) throw new ConfigError(`sip.rtpPorts: ${sip.rtpPorts} is no range of ports`)
}

const portMax = 65_535
const isEach = (address: string) => address === '0.0.0.0' || address === '::'

export function rtpPortsOf({ rtpPorts }: ParleyConfig['sip']): { from: number; to: number } {
  const [from = 0, to = 0] = rtpPorts.split('-').map(Number)
  return { from, to }
}

function refuseMissing(setting: string, packages: readonly string[]): void {
  const missing = missingPackages(packages)
  if (missing.length === 0) return
  throw new ConfigError(`${setting}: needs packages that are not installed: npm install ${missing.join(' ')}`)
}
