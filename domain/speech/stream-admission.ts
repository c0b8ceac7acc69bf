import type { Caller } from '../access/organization.ts'
import { ownKeyIdOf } from '../access/provider-keys.ts'
import type { Credit } from '../billing/ledger.ts'
import { Fault } from '../fault.ts'
import { baseAsk } from '../routing/ask.ts'
import type { Choice, Chooser } from '../routing/chooser.ts'

/**
 * Asked before a socket opens, when nothing of its session is known but who wants it: throws what would refuse every session. That one model is out
 * of reach is told to the session that asks for it.
 */
export type StreamAdmission = (caller: Caller, stage: 'stt' | 'tts') => Promise<void>

/** Throws provider_unavailable, access_denied where the key leaves nothing, and insufficient_credit. */
export function createStreamAdmission(deps: { chooser: Chooser; credit: Pick<Credit, 'any'> }): StreamAdmission {
  return async (caller, stage) => {
    const { id, ownKeys } = caller.organization
    const { candidates } = choose(deps.chooser, caller, stage)
    const isFree = candidates.some(
      ({ row }) => ownKeyIdOf(row.provider, ownKeys) !== null || !row.prices.stream.some(({ microUsd }) => microUsd),
    )
    if (isFree || (await deps.credit.any(id))) return
    throw new Fault('insufficient_credit', {
      message: 'This organization has no credit left, and every model that streams has a price.',
      hint: 'Add credit, or bring a key of your own for a provider.',
    })
  }
}

/** Without what a session may choose for itself although its key has a word for it. */
function choose(chooser: Chooser, caller: Caller, stage: 'stt' | 'tts'): Choice {
  const ask = baseAsk(caller, stage, { mode: 'auto', objective: 'balanced' }, undefined)
  const access = { ...ask.access, chain: null }
  try {
    return chooser.chooseSome({ ...ask, path: 'stream', needs: ['streaming'], language: null, voice: null, access })
  } catch (fault) {
    // Nobody asked for more than a stream: models without one are none here, and what they miss is nothing that the caller could leave out.
    if (fault instanceof Fault && fault.detail.filter === 'capability') throw nothingStreams(stage)
    throw fault
  }
}

function nothingStreams(stage: 'stt' | 'tts'): Fault {
  return new Fault('provider_unavailable', {
    message: `No ${stage} provider that streams is configured.`,
    hint: 'Give a provider its credential, or add one to the configuration; GET /v1/models lists what can be routed.',
    retryAfterS: 30,
  })
}
