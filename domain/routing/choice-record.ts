import { hash } from 'node:crypto'
import type { Choice } from './chooser.ts'
import { explain } from './preview.ts'
import type { Routing } from './routing.ts'

/** A choice as it is kept. Equal explanations have one id, so that thousands of requests point at one record. */
export type ChoiceRecord = {
  /** 132 bits of the SHA-256 of `text`: every request carries it. */
  id: string
  /** The JSON of a Preview. */
  text: string
}

const records = new WeakMap<Choice, ChoiceRecord>()

/** Written out once for each choice that the chooser keeps, and not for each request. */
export function recordOf(choice: Choice): ChoiceRecord {
  const known = records.get(choice)
  if (known) return known
  const explained = explain(choice)
  const text = JSON.stringify({ ...explained, routing: withoutFilters(explained.routing) })
  const record = { id: hash('sha256', text, 'base64url').slice(0, 22), text }
  records.set(choice, record)
  return record
}

/** The lists are the caller's own words, without end; what they did is in the exclusions. */
function withoutFilters(routing: Routing): Routing {
  return routing.mode === 'auto' ? { mode: 'auto', objective: routing.objective } : routing
}
