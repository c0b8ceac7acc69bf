/**
 * Checks and reads the settings for the built-in function `transfer_call`. The LLM chooses a destination by its label
 * and never sees a number.
 */
import type { Issue } from '../../records/resource-fault.ts'
import type { TransferKind } from '../../records/transfer.ts'
import type { TransferConfig } from '../../records/transfer-request.ts'
import { issuesOfWarm, type ReadTransfer, readBlind, readWarm, type TransferRules } from './read-transfer.ts'

type Setting = keyof TransferConfig

const required: readonly Setting[] = ['kind', 'destinations']
const ofBoth: readonly Setting[] = [...required, 'ringingTimeout', 'metadata']
const ofKind: Readonly<Record<TransferKind, readonly Setting[]>> = {
  blind: ['headers', 'playDialtone'],
  warm: ['from', 'screeningPrompt', 'summary', 'screeningTimeout', 'fallback', 'voicemailDetection'],
}
export const transferSettings: readonly Setting[] = [...ofBoth, ...ofKind.blind, ...ofKind.warm]

/** Checks the settings. The paths in the issues are relative to the settings. */
export function issuesOfTransferConfig(config: TransferConfig, rules: TransferRules): Issue[] {
  const { kind, destinations } = config
  const missing = required.filter((setting) => !isGiven(config, setting))
  const issues = missing.map((setting): Issue => ({ path: [setting], problem: { kind: 'setting_missing' } }))
  if (kind === undefined || destinations === undefined) return issues
  const ofOther = ofKind[kind === 'blind' ? 'warm' : 'blind'].filter((setting) => isGiven(config, setting))
  const labels = destinations.map(({ label }) => label)
  const repeated = labels.flatMap((label, at) => (labels.indexOf(label) === at ? [] : [at]))
  return [
    ...ofOther.map((setting): Issue => ({ path: [setting], problem: { kind: 'setting_not_taken' } })),
    ...repeated.map((at): Issue => ({ path: ['destinations', at, 'label'], problem: { kind: 'repeated' } })),
    ...issuesOfWarm(config, rules),
  ]
}

const isGiven = (config: TransferConfig, setting: Setting) => (config[setting] ?? null) !== null

/** Makes the JSON Schema for the LLM's arguments. */
export function transferParameters({ destinations = [] }: TransferConfig): Record<string, unknown> {
  const said = destinations.map(({ label, description }) => (description ? `${label}: ${description}` : label))
  const label = { type: 'string', enum: destinations.map((each) => each.label), description: said.join('\n') }
  return { type: 'object', properties: { label }, required: ['label'] }
}

/**
 * Reads a transfer to the destination with this label. A blind transfer calls only this destination. A warm transfer
 * calls the remaining destinations after it. Returns null if no destination has this label. Throws ResourceFault
 * `invalid`.
 */
export function readTransferConfig(config: TransferConfig, label: unknown, rules: TransferRules): ReadTransfer | null {
  const { kind, destinations = [], headers, playDialtone, ...warm } = config
  const first = destinations.find((each) => each.label === label)
  if (first === undefined) return null
  if (kind === 'warm')
    return readWarm({ ...warm, destinations: [first, ...destinations.filter((each) => each !== first)] }, rules)
  const { ringingTimeout = null } = warm
  const metadata = first.metadata ?? warm.metadata ?? null
  const request = {
    to: first.to,
    ringingTimeout,
    metadata,
    headers: headers ?? null,
    playDialtone: playDialtone ?? null,
  }
  return readBlind(request, rules)
}
