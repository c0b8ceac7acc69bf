import { type Issue } from '../resource-fault.ts'
import type { SessionRules } from '../sessions/check.ts'
import { issuesOfTemplate } from './check-template.ts'
import type { NumberChange, PhoneNumber } from './phone-number.ts'
import { hasAnswer } from './setup-status.ts'

export async function issuesOfChange(
  { dispatchMetadataTemplate }: NumberChange,
  rules: SessionRules,
): Promise<Issue[]> {
  if (dispatchMetadataTemplate === undefined || dispatchMetadataTemplate === null) return []
  return issuesOfTemplate(['dispatchMetadataTemplate'], dispatchMetadataTemplate, rules)
}

/** A number that takes calls needs something that answers them. */
export function issuesOfWhole(number: PhoneNumber): Issue[] {
  if (number.direction === 'outbound' || hasAnswer(number)) return []
  return [{ path: ['dispatchMetadataTemplate'], problem: { kind: 'answer_missing' } }]
}
