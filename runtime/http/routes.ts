/**
 * Which operation a request means. Paths are matched before methods, a literal segment before a parameter, and a dead end goes back to the
 * parameter: so a method that a literal path lacks is a 405 there and never falls through to a wider template.
 *
 *   host ─► literal paths (one Map lookup)
 *        └► tree of the templates' segments: 'v1' ─► 'agents' ─► :id ─► 'tools'
 *
 * Both listeners share it. Assumes what the generator ensures: parameters are whole segments, and no two templates are equal.
 */

import { renameHeader } from '../engine/header-names.ts'
import type { PathRule } from '../engine/operation.ts'
import type { Mount } from '../engine/options.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'

/** Everything at one path. */
export type Route = {
  mount: Mount
  /** For `Allow`. */
  allow: string
  endpoints: ReadonlyMap<string, Endpoint>
  /** For Access-Control-Allow-Headers. */
  requestHeaders: string
}

/** `params` are raw segments in the template's order. A null route is an unknown path; `mount` is then whose envelope says so. */
export type Match = { route: Route | null; mount: Mount; params: readonly string[] }

type Node = { route: Route | null; literals: Map<string, Node>; parameter: Node | null }
type Site = { mounts: Mount[]; literals: Map<string, Match>; tree: Node }

const noParams: readonly string[] = []

export class Routes {
  /** Whether requests must bring their host along to `find`. */
  readonly byHost: boolean
  readonly #sites = new Map<string, Site>()
  readonly #anyHost: Site

  constructor(mounts: readonly Mount[], headerPrefix: string) {
    const hosts = new Set(mounts.flatMap(({ host }) => (host === null ? [] : [host])))
    this.byHost = hosts.size > 0
    const isAnywhere = (mount: Mount) => mount.host === null
    this.#anyHost = createSite(mounts.filter(isAnywhere), headerPrefix)
    for (const host of hosts) {
      const own = mounts.filter((mount) => mount.host === host)
      const health = mounts.filter((mount) => isAnywhere(mount) && mount.health)
      this.#sites.set(host, createSite([...own, ...health], headerPrefix))
    }
  }

  /** `host` as the Host header has it. Null only when nothing at all is mounted there. */
  find(host: string, path: string): Match | null {
    const site = (this.byHost && this.#sites.get(hostName(host))) || this.#anyHost
    const literal = site.literals.get(path)
    if (literal) return literal
    const segments = path.split('/')
    const params: string[] = []
    const route = descend(site.tree, segments, 1, params)
    if (route) return { route, mount: route.mount, params }
    const mount = site.mounts.find(({ basePath }) => path.startsWith(`${basePath}/`)) ?? site.mounts[0]
    return mount ? { route: null, mount, params: noParams } : null
  }
}

/** `[::1]:8080` and `Example.com:443` without port and case. */
export function hostName(host: string): string {
  return host.replace(/:\d*$/, '').toLowerCase()
}

function createSite(mounts: readonly Mount[], headerPrefix: string): Site {
  const site: Site = { mounts: [...mounts], literals: new Map(), tree: createNode() }
  // The longest base path first: '/router' must answer for its own unknown paths before '' does.
  site.mounts.sort((a, b) => b.basePath.length - a.basePath.length)
  for (const mount of site.mounts) {
    for (const rule of mount.surface.paths)
      place(site, mount.basePath + rule.pattern, createRoute(mount, rule, headerPrefix))
  }
  return site
}

function createNode(): Node {
  return { route: null, literals: new Map(), parameter: null }
}

function createRoute(mount: Mount, rule: PathRule, headerPrefix: string): Route {
  const operations = mount.surface.operations.filter(({ pattern }) => pattern === rule.pattern)
  const declared = operations.flatMap(({ headers }) => headers.map(({ name }) => renameHeader(name, headerPrefix)))
  return {
    mount,
    allow: rule.allow,
    endpoints: new Map(
      operations.map((operation) => [operation.method, createEndpoint(mount, operation, headerPrefix)]),
    ),
    requestHeaders: [...new Set(['Authorization', 'Content-Type', ...declared])].join(', '),
  }
}

function place(site: Site, pattern: string, route: Route): void {
  const segments = pattern.split('/').slice(1)
  if (!segments.some(isParameter)) {
    if (site.literals.has(pattern)) throw new Error(`two surfaces serve ${pattern}`)
    site.literals.set(pattern, { route, mount: route.mount, params: noParams })
    return
  }
  let node = site.tree
  for (const segment of segments) node = child(node, segment)
  if (node.route) throw new Error(`two surfaces serve ${pattern}`)
  node.route = route
}

function child(node: Node, segment: string): Node {
  if (isParameter(segment)) return (node.parameter ??= createNode())
  const known = node.literals.get(segment)
  if (known) return known
  const made = createNode()
  node.literals.set(segment, made)
  return made
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}

function descend(node: Node, segments: readonly string[], at: number, params: string[]): Route | null {
  const segment = segments[at]
  if (segment === undefined) return node.route
  const literal = node.literals.get(segment)
  const found = literal && descend(literal, segments, at + 1, params)
  if (found) return found
  // A parameter is never empty.
  if (!node.parameter || segment === '') return null
  params.push(segment)
  const wide = descend(node.parameter, segments, at + 1, params)
  if (!wide) params.pop()
  return wide
}
