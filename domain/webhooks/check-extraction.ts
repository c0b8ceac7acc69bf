/** Checks the rules for extraction fields that a schema cannot express. */
import { repeatedItems, repeatedNames } from '../records/repeated.ts'
import type { Issue, ValuePath } from '../records/resource-fault.ts'
import type { ExtractionField } from '../records/webhook-endpoint.ts'

/** The maximum number of characters in all descriptions together. */
const descriptionsMax = 40_000

export function extractionIssues(path: ValuePath, fields: readonly ExtractionField[]): Issue[] {
  const characters = fields.reduce((sum, { description }) => sum + [...description].length, 0)
  return [
    ...repeatedNames(path, fields),
    ...fields.flatMap((field, at) => optionIssues(field, [...path, at, 'options'])),
    ...fields.flatMap(({ options = [] }, at) => repeatedItems([...path, at, 'options'], options)),
    ...(characters > descriptionsMax
      ? [{ path, problem: { kind: 'descriptions_too_long' as const, charactersMax: descriptionsMax } }]
      : []),
  ]
}

function optionIssues({ type, options }: ExtractionField, path: ValuePath): Issue[] {
  if ((type === 'enum') === (options !== undefined)) return []
  return [{ path, problem: { kind: type === 'enum' ? 'options_missing' : 'options_not_taken' } }]
}
