/**
 * Refuses unknown paths. Most such requests come from a client with a missing or superfluous segment in its base URL,
 * so the message names the requested path and the probably intended path.
 */
import { Refusal } from '../engine/handler.ts'

/** Makes the refusal for an unknown path. `patterns` are the host's paths: /v1/agents/:id. */
export function nothingAt(path: string, patterns: readonly string[]): Refusal {
  const near = nearest(path, patterns)
  const place = isShown.test(path) ? path : 'this path'
  const message = `There is nothing at ${place}.${near === null ? '' : ` Did you mean ${near}?`}`
  return new Refusal('not_found', { message })
}

/** A path that the message may repeat. Any other path may hold anything, so the message says "this path". */
const isShown = /^[\w\-.~/:@+]{1,200}$/
const segmentsMax = 16

/** Finds the known path nearest to this path, by the number of segments added or removed at its start. */
function nearest(path: string, patterns: readonly string[]): string | null {
  const segments = segmentsOf(path).filter((segment) => segment !== '')
  if (!isShown.test(path) || segments.length > segmentsMax || segments.length === 0) return null
  let near: { segments: readonly string[]; changes: number } | null = null
  for (const pattern of patterns) {
    const patternSegments = pattern.split('/').slice(1)
    const missing = patternSegments.length - segments.length
    const start = patternSegments.slice(0, Math.max(0, missing))
    const [rest, tail] = [patternSegments.slice(start.length), segments.slice(Math.max(0, -missing))]
    if (start.some(isParameter) || !fits(rest, tail) || (near && near.changes <= Math.abs(missing))) continue
    near = { segments: [...start, ...spelled(rest, tail)], changes: Math.abs(missing) }
  }
  return near === null ? deepest(segments, patterns) : `/${near.segments.join('/')}`
}

/**
 * Returns the pattern with the longest common start. It must share the version and the resource's name with the path.
 */
function deepest(segments: readonly string[], patterns: readonly string[]): string | null {
  const rows = patterns.map((pattern) => ({
    pattern,
    shared: sharedSegments(pattern, segments),
    length: pattern.split('/').length - 1,
  }))
  const [best] = rows.filter(({ shared }) => shared >= 2).sort((a, b) => b.shared - a.shared || a.length - b.length)
  return best === undefined ? null : best.pattern.replace(/:(\w+)/g, '{$1}')
}

/**
 * Splits the path into at most one segment more than `segmentsMax`, because a client can send thousands, even without a
 * key.
 */
export function segmentsOf(path: string): string[] {
  return path.split('/', segmentsMax + 2).slice(1)
}

/** Counts equal segments from the start. A pattern's parameter matches any segment. */
export function sharedSegments(pattern: string, segments: readonly string[]): number {
  const patternSegments = pattern.split('/').slice(1)
  const differs = patternSegments.findIndex((segment, at) => {
    const given = segments[at] ?? ''
    return given === '' || (!isParameter(segment) && segment !== given.toLowerCase())
  })
  return differs < 0 ? patternSegments.length : differs
}

/**
 * True if the pattern fits the whole path. A parameter fits any segment, but not the first: such a pattern would fit
 * nearly every path.
 */
function fits(patternSegments: readonly string[], segments: readonly string[]): boolean {
  if (isParameter(patternSegments[0] ?? '')) return false
  return patternSegments.every((segment, at) => isParameter(segment) || segment === segments[at]?.toLowerCase())
}

function spelled(patternSegments: readonly string[], segments: readonly string[]): string[] {
  return patternSegments.map((segment, at) => (isParameter(segment) ? (segments[at] ?? '') : segment))
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}
