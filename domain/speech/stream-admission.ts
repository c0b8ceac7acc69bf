import type { Caller } from '../access/organization.ts'
import { ownKeyIdOf } from '../access/provider-keys.ts'
import type { Credit } from '../billing/ledger.ts'
import { Fault } from '../fault.ts'
import { baseAsk } from '../routing/ask.ts'
import type { Choice } from '../routing/choice.ts'
import type { Chooser } from '../routing/chooser.ts'
import { noProvider } from '../routing/refusal.ts'

/**
 * Runs before a socket opens, when only the caller is known. It throws a fault that would end every stream of this
 * caller. A model that is out of reach is reported later, to the stream that asks for it.
 */
export type StreamAdmission = (caller: Caller, stage: 'stt' | 'tts') => Promise<void>

/** Throws the fault that every stream of this caller would end with, no_credit_to_stream among them. */
export function createStreamAdmission(deps: { chooser: Chooser; credit: Pick<Credit, 'any'> }): StreamAdmission {
  return async (caller, stage) => {
    const { id, ownKeys } = caller.organization
    const { candidates } = choose(deps.chooser, caller, stage)
    const isFree = candidates.some(
      ({ row }) => ownKeyIdOf(row.provider, ownKeys) !== null || !row.prices.stream.some(({ microUsd }) => microUsd),
    )
    if (isFree || (await deps.credit.any(id))) return
    throw new Fault({ kind: 'no_credit_to_stream' })
  }
}

/** Chooses without the settings that a stream may override although the policy of the key has a value for them. */
function choose(chooser: Chooser, caller: Caller, stage: 'stt' | 'tts'): Choice {
  const ask = baseAsk(caller, stage, { mode: 'auto', objective: 'balanced' }, undefined)
  const access = { ...ask.access, chain: null }
  try {
    return chooser.chooseSome({ ...ask, path: 'stream', needs: ['streaming'], language: null, voice: null, access })
  } catch (fault) {
    // The caller asked for a stream and nothing else, so no part of the request could be left out: this server has no
    // model that streams, or no credential for one.
    if (fault instanceof Fault && (fault.kind === 'capability_missing' || fault.kind === 'credential_missing'))
      throw noProvider(stage, 'no_streaming_provider')
    throw fault
  }
}
