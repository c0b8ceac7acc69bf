/** Reads a served document. A broken reference is replaced by an empty object, so the other parts can be checked. */
import type { Document } from './contract.ts'

type ReadDocument = { document: Document; faults: readonly string[] }

/** Returns the document and its faults. Throws an error if the text is not a JSON object. */
export function readDocument(text: string): ReadDocument {
  const raw = JSON.parse(text) as unknown
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw new Error('the document is not an object')
  const references = new References(raw)
  const document = references.repaired(raw) as Document
  const version = document.openapi ?? document.asyncapi ?? ''
  const isKnown = typeof version === 'string' && /^3\./.test(version)
  const broken = [...references.broken].map((ref) => `${ref} does not exist, or leads back to itself`)
  return { document, faults: isKnown ? broken : [`the version is ${version || 'missing'}`, ...broken] }
}

class References {
  /** The references without a target, or in a circle. */
  readonly broken = new Set<string>()
  readonly #document: object
  readonly #known = new Map<string, boolean | 'visited'>()

  constructor(document: object) {
    this.#document = document
  }

  /** Returns a copy in which each broken reference is an empty object. As a schema it accepts any value. */
  repaired(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.repaired(each))
    if (typeof value !== 'object' || value === null) return value
    const { $ref: ref } = value as { $ref?: unknown }
    if (typeof ref === 'string' && !this.#isSound(ref)) {
      this.broken.add(ref)
      return {}
    }
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.repaired(each)]))
  }

  #isSound(ref: string): boolean {
    const known = this.#known.get(ref)
    // The reference was already visited on this path, so the references form a circle.
    if (known === 'visited') return false
    if (known !== undefined) return known
    this.#known.set(ref, 'visited')
    const target = at(this.#document, ref)
    const isSound = target !== undefined && inPlace(target).every((next) => this.#isSound(next))
    this.#known.set(ref, isSound)
    return isSound
  }
}

/** Returns a schema's references for the value itself, not for its fields: a circle of such references has no end. */
function inPlace(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const { $ref: ref, ...fields } = value as Record<string, unknown>
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => fields[keyword] ?? [])
  return [...(typeof ref === 'string' ? [ref] : []), ...parts.flatMap(inPlace)]
}

function at(document: object, ref: string): unknown {
  if (!ref.startsWith('#/')) return undefined
  let here: unknown = document
  for (const key of ref.slice(2).split('/')) {
    const name = unescaped(key)
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined
    here = (here as Record<string, unknown>)[name]
  }
  return here
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return key
  }
}
