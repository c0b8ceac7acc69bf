/**
 * Validates request bodies for the text message registry, with the limits in the carrier's OpenAPI document, and
 * reports all invalid fields at once.
 */
import type { Fields } from './fields.ts'
import { BadFields, type FieldFault } from './refusal.ts'

export type FieldRule = {
  type: 'string' | 'boolean' | 'strings'
  isRequired?: true
  max?: number
  values?: readonly string[]
}

const textMax = 4096

/** Returns the fields that have a rule, and drops all others. Throws if a field breaks its rule. */
export function checkedFields(fields: Fields, rules: Readonly<Record<string, FieldRule>>): Fields {
  const faults = Object.entries(rules).flatMap(([field, rule]) => faultOf(field, rule, fields[field] ?? null))
  if (faults.length > 0) throw new BadFields(faults)
  return Object.fromEntries(Object.entries(fields).filter(([field]) => field in rules))
}

function faultOf(field: string, rule: FieldRule, value: unknown): FieldFault[] {
  if (value === null || value === '')
    return rule.isRequired ? [{ field, type: 'value_error.missing', text: 'field required' }] : []
  const fault = (type: string, text: string) => [{ field, type, text }]
  if (!hasType(value, rule.type)) return fault(`type_error.${rule.type}`, `${rule.type} type expected`)
  const { max = textMax, values } = rule
  if (typeof value === 'string' && [...value].length > max)
    return fault('value_error.any_str.max_length', `ensure this value has at most ${max} characters`)
  if (values && !values.includes(value as string))
    return fault('type_error.enum', `value is not a valid enumeration member; permitted: ${values.join(', ')}`)
  return []
}

function hasType(value: unknown, type: FieldRule['type']): boolean {
  if (type === 'strings') return Array.isArray(value) && value.every((item) => typeof item === 'string')
  return typeof value === type
}
