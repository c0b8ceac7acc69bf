/** Where sockets are served: which channel answers an address, at which host. */

import type { Channel, SocketSurface } from '../engine/channel.ts'
import type { FaultWriter } from '../engine/handler.ts'
import type { Mount } from '../engine/options.ts'
import type { AdmitSocket, SocketHandler, SocketHandlers } from '../engine/socket.ts'
import { hostName } from '../http/routes.ts'

export type SocketMount = {
  surface: SocketSurface
  /** '' or '/realtime'. */
  basePath: string
  /** A host name of its own, lower case without a port; null answers at every host that no other mount has. */
  host: string | null
  handlers: SocketHandlers
  admit: AdmitSocket
  writeFault: FaultWriter
}

/** One channel as it is served, with what can be worked out before its first socket. */
export type SocketRoute = {
  channel: Channel
  handler: SocketHandler
  admit: AdmitSocket
  /** In the spelling of the deployer. */
  subprotocol: string
  credentialPrefix: string
  /** What refusals before the upgrade are written by. */
  mount: Mount
}

type Site = Map<string, SocketRoute>

export class SocketRoutes {
  /** Every address that some host serves. */
  readonly addresses: readonly string[]
  readonly #sites = new Map<string, Site>()
  readonly #anyHost: Site

  /** Throws when a mount lacks a handler, two mounts claim an address, or an address has parameters. */
  constructor(mounts: readonly SocketMount[], httpMounts: readonly Mount[], headerPrefix: string) {
    const routesAt = (host: string | null) => createSite(mounts, host, headerPrefix)
    this.#anyHost = routesAt(null)
    // A host that one surface has for itself is no place for the sockets of the others.
    for (const { host } of [...mounts, ...httpMounts]) if (host !== null) this.#sites.set(host, routesAt(host))
    const sites = [this.#anyHost, ...this.#sites.values()]
    this.addresses = [...new Set(sites.flatMap((site) => [...site.keys()]))]
  }

  /** `host` as the Host header has it. */
  find(host: string, address: string): SocketRoute | null {
    const site = this.#sites.get(hostName(host)) ?? this.#anyHost
    return site.get(address) ?? null
  }
}

function createSite(mounts: readonly SocketMount[], host: string | null, headerPrefix: string): Site {
  const site: Site = new Map()
  for (const mount of mounts.filter((candidate) => candidate.host === host)) {
    for (const channel of mount.surface.channels) {
      const address = mount.basePath + channel.address
      if (/[{:*]/.test(address)) throw new Error(`${channel.id}: addresses of sockets have no parameters: ${address}`)
      if (site.has(address)) throw new Error(`two channels serve ${address}`)
      site.set(address, createRoute(mount, channel, headerPrefix))
    }
  }
  return site
}

function createRoute(mount: SocketMount, channel: Channel, headerPrefix: string): SocketRoute {
  const { surface, basePath, host, handlers, admit, writeFault } = mount
  const handler = handlers[channel.id]
  if (!handler) throw new Error(`surface ${surface.name}: no handler for ${channel.id}`)
  return {
    channel,
    handler,
    admit,
    subprotocol: renameSubprotocol(channel.subprotocol, headerPrefix),
    credentialPrefix: renameSubprotocol(channel.credentialPrefix, headerPrefix),
    mount: {
      surface: { name: surface.name, operations: [], paths: [] },
      basePath,
      host,
      handlers: {},
      writeFault,
      corsOrigins: [],
      quota: true,
      health: false,
    },
  }
}

/** The contract spells `service.realtime.v1`; a deployer's prefix takes the place of the first word, in lower case. */
function renameSubprotocol(name: string, prefix: string): string {
  return name.replace(/^service\./, `${prefix.toLowerCase()}.`)
}
