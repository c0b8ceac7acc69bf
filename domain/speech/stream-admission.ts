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
 * Runs before a socket opens, when only the caller is known, and on some channels the model. It throws a fault that
 * would end every stream of this caller with this model. A model that is named later is checked by the stream that asks
 * for it.
 */
export type StreamAdmission = (caller: Caller, stage: 'stt' | 'tts', model?: string) => Promise<void>

/** Throws the fault that every stream of this caller would end with, no_credit_to_stream among them. */
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

/** Chooses without the settings that a stream may override although the policy of the key has a value for them. */
function choose(chooser: Chooser, caller: Caller, stage: 'stt' | 'tts', model: string | undefined): Choice {
  const routing = routingOfName(chooser.world.catalog, { stage, name: model, aliases: caller.policy.aliases })
  const ask = baseAsk(caller, stage, routing, undefined)
  const access = { ...ask.access, chain: null }
  try {
    return chooser.chooseSome({ ...ask, path: 'stream', needs: ['streaming'], language: null, voice: null, access })
  } catch (fault) {
    // The caller asked for a stream and nothing else, so no part of the request could be left out: this server has no
    // model that streams, or no credential for one.
    const isOfServer =
      fault instanceof Fault && (fault.kind === 'capability_missing' || fault.kind === 'credential_missing')
    if (model === undefined && isOfServer) throw noProvider(stage, 'no_streaming_provider')
    throw fault
  }
}
