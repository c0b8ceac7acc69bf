import { ownKeyIdOf } from '../access/provider-keys.ts'
import { creditFault } from '../billing/budget.ts'
import type { Credit } from '../billing/ledger.ts'
import { isUnpriced, type UnpricedPolicy, unpricedNeedsCredit } from '../billing/unpriced.ts'
import { Fault } from '../records/fault.ts'
import type { Caller } from '../records/organization.ts'
import { baseAsk } from '../routing/ask.ts'
import type { Choice } from '../routing/choice.ts'
import type { Chooser } from '../routing/chooser.ts'
import { routingOfName } from '../routing/model-name.ts'
import { noProvider } from '../routing/refusal.ts'

/**
 * Checks before a socket opens if a stream could run at all. At this time only the API key is known, and on some
 * channels the model. Throws the fault that would end every stream with this key and model, if there is such a fault.
 * If the model is named later, the stream checks it.
 */
export type StreamAdmission = (caller: Caller, stage: 'stt' | 'tts', model?: string) => Promise<void>

/** Creates the check before a stream. The check throws, for example, `no_credit_to_stream`. */
export function createStreamAdmission(
  deps: UnpricedPolicy & { chooser: Chooser; credit: Pick<Credit, 'refusal'> },
): StreamAdmission {
  return async (caller, stage, model) => {
    const { ownKeys } = caller.organization
    const { candidates } = choose(deps.chooser, caller, stage, model)
    const needsPrice = unpricedNeedsCredit(deps, caller)
    const isFree = ({ row: { provider, prices } }: Choice['candidates'][number]) =>
      ownKeyIdOf(provider, ownKeys) !== null ||
      !(prices.stream.some(({ microUsd }) => microUsd) || (needsPrice && isUnpriced(prices.stream)))
    if (candidates.some(isFree)) return
    const refusal = await deps.credit.refusal(caller)
    if (refusal !== null) throw creditFault('no_credit_to_stream', refusal, caller)
  }
}

/**
 * Chooses candidates for a stream without settings. The API key's chain (its list of models) is ignored, because a
 * stream may override it.
 */
function choose(chooser: Chooser, caller: Caller, stage: 'stt' | 'tts', model: string | undefined): Choice {
  const routing = routingOfName(chooser.world.catalog, { stage, name: model, aliases: caller.policy.aliases })
  const ask = baseAsk(caller, stage, routing, undefined)
  const access = { ...ask.access, chain: null }
  try {
    return chooser.chooseSome({ ...ask, path: 'stream', needs: ['streaming'], language: null, voice: null, access })
  } catch (fault) {
    // The client has requested only a stream so far, so the fault must not suggest a change to the request. This server
    // has no streaming model, or no credential for a streaming model.
    const isOfServer =
      fault instanceof Fault && (fault.kind === 'capability_missing' || fault.kind === 'credential_missing')
    if (model === undefined && isOfServer) throw noProvider(stage, 'no_streaming_provider')
    throw fault
  }
}
