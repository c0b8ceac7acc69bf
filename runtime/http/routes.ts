/**
 * Which operation a request means. The host is matched first, then the path, then the method: a method that a literal
 * path lacks is a 405 there and is never looked up at a wider template. Both listeners share these routes.
 */

import { renameHeader } from '../engine/head.ts'
import { hostName } from '../engine/host.ts'
import type { PathRule } from '../engine/operation.ts'
import type { Mount } from '../engine/options.ts'
import { type Found, PathTree } from '../engine/path-tree.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import { segmentsOf, sharedSegments } from './unknown-path.ts'

/** Everything that is served at one path. */
export type PathEntry = {
  mount: Mount
  /** For `Allow`. */
  allow: string
  /** By method, lower case. */
  endpoints: ReadonlyMap<string, Endpoint>
  /** For Access-Control-Allow-Headers. */
  requestHeaders: string
}

/** `patterns` are the paths of the surfaces that clients use: /v1/agents/:id. */
type Site = { mounts: readonly Mount[]; paths: PathTree<PathEntry>; patterns: readonly string[] }

export class Routes {
  /** Whether `find` needs the host. */
  readonly byHost: boolean
  readonly #sites = new Map<string, Site>()
  readonly #anyHost: Site

  /** Throws when a mount lacks a handler, or two mounts serve one path. */
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

  /** `host` as the Host header has it. */
  find(host: string, path: string): Found<PathEntry> | null {
    return this.#siteOf(host).paths.find(path)
  }

  /** The paths at a host that a client may have meant. */
  patternsAt(host: string): readonly string[] {
    return this.#siteOf(host).patterns
  }

  /** The mount whose envelope answers for an unknown path. Null only when nothing is mounted at the host. */
  mountFor(host: string, path: string): Mount | null {
    const { mounts } = this.#siteOf(host)
    const first = mounts.find(({ basePath }) => path.startsWith(`${basePath}/`)) ?? mounts[0] ?? null
    // Several surfaces share a base path: the one with the resource of the path answers.
    const shared = mounts.filter(({ basePath }) => basePath === first?.basePath)
    return nearestMount(shared, segmentsOf(path)) ?? first
  }

  #siteOf(host: string): Site {
    return (this.byHost && this.#sites.get(hostName(host))) || this.#anyHost
  }
}

/** The mount whose path has the most leading segments of this one. Null: none has more than another. */
function nearestMount(mounts: readonly Mount[], segments: readonly string[]): Mount | null {
  const depths = mounts.map((mount) => ({ mount, depth: depthAt(mount, segments) })).sort((a, b) => b.depth - a.depth)
  const [one, other] = depths
  return one !== undefined && one.depth > (other?.depth ?? 0) ? one.mount : null
}

function depthAt({ basePath, surface }: Mount, segments: readonly string[]): number {
  return Math.max(0, ...surface.paths.map(({ pattern }) => sharedSegments(basePath + pattern, segments)))
}

function createSite(mounts: readonly Mount[], headerPrefix: string): Site {
  // The longest base path first: '/router' must answer for its unknown paths before '' does.
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
    // Client libraries in a page send further headers, such as x-stainless-lang. `*` allows all but Authorization.
    requestHeaders: [...new Set(['Authorization', 'Content-Type', ...declared]), '*'].join(', '),
  }
}
