/**
 * Finds a request's operation. The host is matched first, then the path, then the method. If a literal path lacks the
 * method, the response is 405; wider templates are not searched. Both listeners share these routes.
 */

import { renameHeader } from '../engine/head.ts'
import { hostName } from '../engine/host.ts'
import type { PathRule } from '../engine/operation.ts'
import type { Mount } from '../engine/options.ts'
import { type PathMatch, PathTree } from '../engine/path-tree.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import { segmentsOf, sharedSegments } from './unknown-path.ts'

/** All operations at one path. */
export type PathEntry = {
  mount: Mount
  /** The value for the header Allow. */
  allow: string
  /** The operations by method, in lower case. */
  endpoints: ReadonlyMap<string, Endpoint>
  /** The value for Access-Control-Allow-Headers. */
  requestHeaders: string
}

/** The mounts and paths at one host. `patterns` are all paths except health checks: /v1/agents/:id. */
type Site = { mounts: readonly Mount[]; paths: PathTree<PathEntry>; patterns: readonly string[] }

export class Routes {
  /** True if some mounts have a separate host, so `find` needs the Host header. */
  readonly byHost: boolean
  readonly #sites = new Map<string, Site>()
  readonly #anyHost: Site

  /** Throws if a mount lacks a handler, or two mounts serve the same path. */
  constructor(mounts: readonly Mount[], headerPrefix: string) {
    const hosts = new Set(mounts.flatMap(({ host }) => (host === null ? [] : [host])))
    this.byHost = hosts.size > 0
    const isAnywhere = (mount: Mount) => mount.host === null
    this.#anyHost = createSite(mounts.filter(isAnywhere), headerPrefix)
    for (const host of hosts) {
      const ofHost = mounts.filter((mount) => mount.host === host)
      const health = mounts.filter((mount) => isAnywhere(mount) && mount.health)
      this.#sites.set(host, createSite([...ofHost, ...health], headerPrefix))
    }
  }

  /** Finds the path's operations. `host` is the Host header's value. */
  find(host: string, path: string): PathMatch<PathEntry> | null {
    return this.#siteOf(host).paths.find(path)
  }

  /** Returns all patterns at a host, to suggest the intended path to a client. */
  patternsAt(host: string): readonly string[] {
    return this.#siteOf(host).patterns
  }

  /** Finds the mount that writes the error for an unknown path. Null only if the host has no mounts. */
  mountFor(host: string, path: string): Mount | null {
    const { mounts } = this.#siteOf(host)
    const first = mounts.find(({ basePath }) => path.startsWith(`${basePath}/`)) ?? mounts[0] ?? null
    // Several APIs may share a base path. Then the API with the path's resource writes the error.
    const shared = mounts.filter(({ basePath }) => basePath === first?.basePath)
    return nearestMount(shared, segmentsOf(path)) ?? first
  }

  #siteOf(host: string): Site {
    return (this.byHost && this.#sites.get(hostName(host))) || this.#anyHost
  }
}

/** Returns the mount with the longest match for the leading segments. Null if no single mount matches best. */
function nearestMount(mounts: readonly Mount[], segments: readonly string[]): Mount | null {
  const depths = mounts.map((mount) => ({ mount, depth: depthAt(mount, segments) })).sort((a, b) => b.depth - a.depth)
  const [one, other] = depths
  return one !== undefined && one.depth > (other?.depth ?? 0) ? one.mount : null
}

function depthAt({ basePath, surface }: Mount, segments: readonly string[]): number {
  return Math.max(0, ...surface.paths.map(({ pattern }) => sharedSegments(basePath + pattern, segments)))
}

function createSite(mounts: readonly Mount[], headerPrefix: string): Site {
  // Sorts by base path, longest first: an unknown path below '/router' must get its error from that mount, not from the
  // mount without a base path.
  const ordered = mounts.toSorted((a, b) => b.basePath.length - a.basePath.length)
  const paths = new PathTree<PathEntry>()
  const patterns: string[] = []
  for (const mount of ordered) {
    for (const rule of mount.surface.paths) {
      const pattern = mount.basePath + rule.pattern
      if (!paths.add(pattern, createEntry(mount, rule, headerPrefix))) throw new Error(`two surfaces serve ${pattern}`)
      if (!mount.health) patterns.push(pattern)
    }
  }
  return { mounts: ordered, paths, patterns }
}

function createEntry(mount: Mount, rule: PathRule, headerPrefix: string): PathEntry {
  const operations = mount.surface.operations.filter(({ pattern }) => pattern === rule.pattern)
  const declared = operations.flatMap(({ headers }) => headers.map(({ name }) => renameHeader(name, headerPrefix)))
  return {
    mount,
    allow: rule.allow,
    endpoints: new Map(
      operations.map((operation) => [operation.method, createEndpoint(mount, operation, headerPrefix)]),
    ),
    // Client libraries in web pages send further headers, such as x-stainless-lang. `*` allows all except
    // Authorization.
    requestHeaders: [...new Set(['Authorization', 'Content-Type', ...declared]), '*'].join(', '),
  }
}
