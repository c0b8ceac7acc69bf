/**
 * Translates a key's policy between the contract (specs/key-policy.schema.yaml) and the domain. Only this file maps the
 * contract's names. A new policy is refused if it is wrong. A stored policy from an earlier version is read as far as
 * possible.
 */
import { readLanguage } from '../domain/catalog/language.ts'
import { objectiveOf } from '../domain/ports/model.ts'
import { type Aliases, wrongAlias } from '../domain/records/aliases.ts'
import { Fault } from '../domain/records/fault.ts'
import type { KeyPolicy } from '../domain/records/organization.ts'
import type { KeyPolicy as WirePolicy } from '../generated/key-policy/types.ts'
import { validateKeyPolicy } from '../generated/key-policy/validator.ts'
import { refuseBody } from '../runtime/engine/violation.ts'

/** Thrown for an invalid policy. The message names the invalid field. */
export class PolicyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'PolicyError'
  }
}

const wireNames = {
  voice: 'voice',
  chain: 'chain',
  language: 'language',
  allowedOrigins: 'allowed_origins',
  allowProviders: 'allow_providers',
  maxConcurrency: 'max_concurrency',
  objective: 'objective',
  aliases: 'aliases',
  budget: 'budget',
} as const satisfies Record<keyof KeyPolicy, keyof WirePolicy>

/** Returns the names of a policy's fields, as `readKeyPolicy` accepts them. */
export function policyFields(policy: KeyPolicy): string[] {
  return Object.keys(policy).map(wireName)
}

/** Returns the policy with the field names in the contract. */
export function wireKeyPolicy(policy: KeyPolicy): WirePolicy {
  return Object.fromEntries(Object.entries(policy).map(([name, value]) => [wireName(name), value]))
}

/**
 * Reads a new policy. Throws PolicyError if it is wrong. Returns pins as `provider/model`, origins as browsers send
 * them, and the language in canonical form.
 */
export function readKeyPolicy(value: unknown): KeyPolicy {
  if (!validateKeyPolicy(value)) {
    const { message, detail } = refuseBody(validateKeyPolicy.errors, 'the policy')
    const hint = detail.keyword === 'additionalProperties' ? `; there are ${Object.values(wireNames).join(', ')}` : ''
    throw new PolicyError(`${message.replace(/^\//, '')}${hint}`)
  }
  if (!textsOf(value).every(isStorable))
    throw new PolicyError('a text has the character NUL or half of a surrogate pair, which cannot be stored')
  const { voice, chain, language, allowed_origins, allow_providers, max_concurrency, objective, aliases, budget } =
    value as WirePolicy
  return {
    ...(voice !== undefined && { voice }),
    ...(chain && { chain: readChain(chain) }),
    ...(language !== undefined && { language: canonical(language) }),
    ...(allowed_origins && { allowedOrigins: allowed_origins.map(originOf) }),
    ...(allow_providers && { allowProviders: allow_providers }),
    ...(max_concurrency !== undefined && { maxConcurrency: max_concurrency }),
    ...(objective && { objective: objectiveOf(objective) }),
    ...(aliases && { aliases: unchained(aliases) }),
    ...(budget && { budget }),
  }
}

/** Returns all strings in the JSON value, and the names of its fields. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) => [name, ...textsOf(item)])
}

/** Returns false for text that Postgres refuses in a jsonb column. */
const isStorable = (text: string) => !/[\0\ud800-\udfff]/u.test(text)

/**
 * Reads a stored policy and never throws: `dropped` names the unreadable fields. An unreadable list must not give the
 * key more rights. So an unreadable list of providers allows no provider. An unreadable list of origins allows only our
 * own origins, like an absent list.
 */
export function readStoredPolicy(stored: unknown): { policy: KeyPolicy; dropped: string[] } {
  if (typeof stored !== 'object' || stored === null || Array.isArray(stored)) return { policy: {}, dropped: ['policy'] }
  const fields = Object.entries(stored).map(([name, value]: [string, unknown]) => [wireName(name), value] as const)
  try {
    return { policy: readKeyPolicy(Object.fromEntries(fields)), dropped: [] }
  } catch {
    // The policy as a whole is not valid, so its fields are read one by one below.
  }
  const policy: KeyPolicy = {}
  const dropped: string[] = []
  for (const [name, value] of fields) {
    try {
      Object.assign(policy, readKeyPolicy({ [name]: value }))
    } catch {
      dropped.push(name)
      if (name === wireNames.allowProviders) policy.allowProviders = []
    }
  }
  return { policy, dropped }
}

function wireName(name: string): string {
  return Object.hasOwn(wireNames, name) ? wireNames[name as keyof KeyPolicy] : name
}

function readChain(chain: NonNullable<WirePolicy['chain']>): NonNullable<KeyPolicy['chain']> {
  return Object.fromEntries(Object.entries(chain).map(([stage, pins]) => [stage, pins.map(pinOf)]))
}

/**
 * Writes a pinned model as `provider/model`. The first / or : separates provider and model, because provider ids
 * contain neither character.
 */
const pinOf = (pin: string) => pin.replace(/[/:]/, '/')

function unchained(aliases: NonNullable<WirePolicy['aliases']>): Aliases {
  const wrong = wrongAlias(aliases)
  if (wrong !== null) throw new PolicyError(`aliases: ${wrong}`)
  return aliases
}

function canonical(language: string): string {
  try {
    return readLanguage(language).tag
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause
    throw new PolicyError(`language is not a BCP 47 tag: write for example en, es-MX or zh-Hant`, cause)
  }
}

/**
 * Returns the origin as an Origin header spells it: host in lower case, no default port. App schemes stay as they are.
 */
function originOf(origin: string): string {
  if (!/^https?:/i.test(origin)) return origin
  const { origin: normal } = URL.canParse(origin) ? new URL(origin) : { origin: '' }
  if (normal === '') throw new PolicyError('allowed_origins holds what is no origin: write scheme, host and port')
  return normal
}
