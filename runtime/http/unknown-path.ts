/**
 * The refusal of a path at which nothing is served. Most such requests come from a client whose base URL lacks a
 * segment or has one too many, so the message names the path that was asked for and the one that was probably meant.
 */
import { Refusal } from '../engine/handler.ts'

/** `patterns` are the paths that are served at the host: /v1/agents/:id. */
export function nothingAt(path: string, patterns: readonly string[]): Refusal {
  const near = nearest(path, patterns)
  const place = isShown.test(path) ? path : 'this path'
  const message = `There is nothing at ${place}.${near === null ? '' : ` Did you mean ${near}?`}`
  return new Refusal('not_found', { message })
}

/** Any other path is not repeated: it may hold anything. */
const isShown = /^[\w\-.~/:@+]{1,200}$/
const segmentsMax = 16

/** The path with the fewest segments added at its start or removed from it, at which something is served. */
function nearest(path: string, patterns: readonly string[]): string | null {
  const segments = segmentsOf(path).filter((segment) => segment !== '')
  if (!isShown.test(path) || segments.length > segmentsMax || segments.length === 0) return null
  let near: { segments: readonly string[]; changes: number } | null = null
  for (const pattern of patterns) {
    const wanted = pattern.split('/').slice(1)
    const missing = wanted.length - segments.length
    const start = wanted.slice(0, Math.max(0, missing))
    const [rest, tail] = [wanted.slice(start.length), segments.slice(Math.max(0, -missing))]
    if (start.some(isParameter) || !fits(rest, tail) || (near && near.changes <= Math.abs(missing))) continue
    near = { segments: [...start, ...spelled(rest, tail)], changes: Math.abs(missing) }
  }
  return near === null ? deepest(segments, patterns) : `/${near.segments.join('/')}`
}

/** The template that goes on as the path begins: at least the name of its resource, below the version. */
function deepest(segments: readonly string[], patterns: readonly string[]): string | null {
  const rows = patterns.map((pattern) => ({
    pattern,
    shared: sharedSegments(pattern, segments),
    length: pattern.split('/').length - 1,
  }))
  const [best] = rows.filter(({ shared }) => shared >= 2).sort((a, b) => b.shared - a.shared || a.length - b.length)
  return best === undefined ? null : best.pattern.replace(/:(\w+)/g, '{$1}')
}

/** One more than `segmentsMax` of a longer path, which may have thousands: a client without a key sends them. */
export function segmentsOf(path: string): string[] {
  return path.split('/', segmentsMax + 2).slice(1)
}

/** How many segments of a path and a template are the same from the start. A parameter of the template takes any segment. */
export function sharedSegments(pattern: string, segments: readonly string[]): number {
  const wanted = pattern.split('/').slice(1)
  const differs = wanted.findIndex((segment, at) => {
    const given = segments[at] ?? ''
    return given === '' || (!isParameter(segment) && segment !== given.toLowerCase())
  })
  return differs < 0 ? wanted.length : differs
}

/** A parameter takes any segment, but a path that begins with one would be near to everything. */
function fits(wanted: readonly string[], segments: readonly string[]): boolean {
  if (isParameter(wanted[0] ?? '')) return false
  return wanted.every((segment, at) => isParameter(segment) || segment === segments[at]?.toLowerCase())
}

function spelled(wanted: readonly string[], segments: readonly string[]): string[] {
  return wanted.map((segment, at) => (isParameter(segment) ? (segments[at] ?? '') : segment))
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}
