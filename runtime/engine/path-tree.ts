/**
 * Finds the entry for a path. A literal segment is tried before a parameter. At a dead end the search goes back to the
 * parameter.
 *
 *   literal paths (one Map lookup)
 *   tree of the templates' segments: 'v1' ─► 'agents' ─► :id ─► 'tools'
 *
 * A parameter must be a whole segment; the generator ensures this.
 */
import { Refusal } from './handler.ts'

/** `params` holds the raw segments, in the order of the pattern's parameters. */
export type PathMatch<Entry> = { entry: Entry; params: readonly string[] }

type Node<Entry> = { entry: Entry | null; literals: Map<string, Node<Entry>>; parameter: Node<Entry> | null }

export class PathTree<Entry> {
  readonly #literals = new Map<string, PathMatch<Entry>>()
  readonly #root: Node<Entry> = createNode()

  /**
   * Adds an entry. `pattern` is a path in the notation of uWebSockets.js: /v1/agents/:id. Returns false if the pattern
   * already has an entry.
   */
  add(pattern: string, entry: Entry): boolean {
    const segments = pattern.split('/').slice(1)
    if (!segments.some(isParameter)) {
      if (this.#literals.has(pattern)) return false
      this.#literals.set(pattern, { entry, params: noParams })
      return true
    }
    let node = this.#root
    for (const segment of segments) node = child(node, segment)
    if (node.entry !== null) return false
    node.entry = entry
    return true
  }

  find(path: string): PathMatch<Entry> | null {
    const literal = this.#literals.get(path)
    if (literal) return literal
    const params: string[] = []
    const entry = descend(this.#root, path.split('/'), 1, params)
    return entry === null ? null : { entry, params }
  }
}

/**
 * Returns the parameters by name, percent-decoded. If a segment is badly encoded or contains U+0000, it stays as sent.
 * No id contains U+0000 and Postgres refuses it, so the segment is answered like any unknown id.
 */
export function namedParams(names: readonly string[], params: readonly string[]): Record<string, string> {
  const named: Record<string, string> = {}
  for (const [at, name] of names.entries()) named[name] = decodeId(params[at] ?? '')
  return named
}

function decodeId(raw: string): string {
  const text = tryDecode(raw)
  return text === null || text.includes('\0') ? raw : text
}

/** Percent-decodes a query value. Throws Refusal `invalid_parameter` with the parameter's name. */
export function decode(raw: string, param: string): string {
  const text = tryDecode(raw)
  if (text === null)
    throw new Refusal('invalid_parameter', { param, message: `${param} is not valid percent-encoding` })
  // No id and no name contains U+0000, and Postgres refuses it in any text.
  if (text.includes('\0'))
    throw new Refusal('invalid_parameter', { param, message: `${param} must not have the character U+0000` })
  return text
}

/** Percent-decodes a text. Returns null if the encoding is not valid. */
export function tryDecode(raw: string): string | null {
  try {
    return raw.includes('%') ? decodeURIComponent(raw) : raw
  } catch {
    return null
  }
}

const noParams: readonly string[] = []

function createNode<Entry>(): Node<Entry> {
  return { entry: null, literals: new Map(), parameter: null }
}

function child<Entry>(node: Node<Entry>, segment: string): Node<Entry> {
  if (isParameter(segment)) return (node.parameter ??= createNode())
  const existing = node.literals.get(segment)
  if (existing) return existing
  const made = createNode<Entry>()
  node.literals.set(segment, made)
  return made
}

function isParameter(segment: string): boolean {
  return segment.startsWith(':')
}

function descend<Entry>(node: Node<Entry>, segments: readonly string[], at: number, params: string[]): Entry | null {
  const segment = segments[at]
  if (segment === undefined) return node.entry
  const literal = node.literals.get(segment)
  const exact = literal && descend(literal, segments, at + 1, params)
  if (exact) return exact
  // A parameter is never empty.
  if (!node.parameter || segment === '') return null
  params.push(segment)
  const wide = descend(node.parameter, segments, at + 1, params)
  if (!wide) params.pop()
  return wide
}
