/** Finds the channel for a host and a URL path. */
import type { Channel } from '../engine/channel.ts'
import { hostName } from '../engine/host.ts'
import type { Mount, SocketMount } from '../engine/options.ts'
import { type PathMatch, PathTree } from '../engine/path-tree.ts'
import type { AdmitSocket, SocketHandler, SocketSession } from '../engine/socket.ts'
import { takeText } from './frames.ts'

/** A channel with everything needed to serve it. */
export type SocketEntry = {
  channel: Channel
  handler: SocketHandler
  admit: AdmitSocket
  /** Passes a text frame to the session. */
  takeText: (channel: Channel, session: SocketSession, text: string) => void
  /** The subprotocol with the deployer's prefix. */
  subprotocol: string
  credentialPrefix: string
  /** The mount of this route. Its API writes the error if the upgrade is refused. */
  mount: Mount
}

type Site = PathTree<SocketEntry>

export class SocketRoutes {
  /** The channels' paths at all hosts together, as patterns: /v1/sessions/:id/media. */
  readonly patterns: readonly string[]
  readonly #sites = new Map<string, Site>()
  readonly #anyHost: Site

  /** Throws if a mount lacks a handler, or two mounts serve the same path. */
  constructor(mounts: readonly SocketMount[], httpMounts: readonly Mount[], headerPrefix: string) {
    const patterns = new Set<string>()
    const siteAt = (host: string | null) => createSite(mounts, host, headerPrefix, patterns)
    this.#anyHost = siteAt(null)
    // If a host belongs to an API, it does not serve sockets from other APIs.
    for (const { host } of [...mounts, ...httpMounts]) if (host !== null) this.#sites.set(host, siteAt(host))
    this.patterns = [...patterns]
  }

  /** Finds the channel for a path. `host` is the Host header's value. */
  find(host: string, path: string): PathMatch<SocketEntry> | null {
    return (this.#sites.get(hostName(host)) ?? this.#anyHost).find(path)
  }
}

/** Makes the tree of routes for one host, and adds each route's pattern to `patterns`. */
function createSite(
  mounts: readonly SocketMount[],
  host: string | null,
  headerPrefix: string,
  patterns: Set<string>,
): Site {
  const site: Site = new PathTree()
  for (const mount of mounts.filter((candidate) => candidate.host === host)) {
    for (const channel of mount.surface.channels) {
      const address = mount.basePath + channel.address
      const pattern = address.replaceAll(parameter, ':$1')
      if (/[{}*]/.test(pattern)) throw new Error(`${channel.id}: a parameter must be a whole segment: ${address}`)
      if (!site.add(pattern, createEntry(mount, channel, headerPrefix)))
        throw new Error(`two channels serve ${address}`)
      patterns.add(pattern)
    }
  }
  return site
}

/** A path parameter: AsyncAPI writes it as {id}. */
const parameter = /(?<=\/)\{(\w+)\}(?=\/|$)/g

function createEntry(mount: SocketMount, channel: Channel, headerPrefix: string): SocketEntry {
  const { surface, basePath, host, handlers, admit, writeFault, quota = true } = mount
  const handler = handlers[channel.id]
  if (!handler) throw new Error(`surface ${surface.name}: no handler for ${channel.id}`)
  return {
    channel,
    handler,
    admit,
    takeText,
    subprotocol: renameSubprotocol(channel.subprotocol, headerPrefix),
    credentialPrefix: renameSubprotocol(channel.credentialPrefix, headerPrefix),
    mount: {
      surface: { name: surface.name, operations: [], paths: [] },
      basePath,
      host,
      handlers: {},
      writeFault,
      corsOrigins: [],
      quota,
      health: false,
    },
  }
}

/** Replaces the first word in `service.realtime.v1` with the deployer's prefix, in lower case. */
function renameSubprotocol(name: string, prefix: string): string {
  return name.replace(/^service\./, `${prefix.toLowerCase()}.`)
}
