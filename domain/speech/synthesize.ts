import type { Quantity } from '../billing/ledger.ts'
import { deliver } from '../dispatch/deliver.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, RequestContext, Route } from '../dispatch/request.ts'
import { Fault } from '../fault.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { charactersOf, type Delivery, speechAsk, ttsRequest } from './delivery.ts'
import { type ConvertSpeech, openSpeech } from './open-speech.ts'
import { Casting } from './voices.ts'

export type SynthesizeDeps = DispatchDeps & { convert: ConvertSpeech }

export type SynthesizeInput = RequestContext & Delivery & { text: string }

/** `audio` is to be read once. Its iteration throws Fault when the provider breaks off. */
export type Synthesis = { route: Route; characters: number; audio: AsyncIterable<Uint8Array> }

/** Resolves when the first audio has arrived, failing over until then: a failure is never a success with nothing in it. Throws Fault. */
export function createSynthesize(deps: SynthesizeDeps): (order: SynthesizeInput) => Promise<Synthesis> {
  return async (order) => {
    if (order.text.trim() === '') throw new Fault({ kind: 'blank_text' })
    const ask = speechAsk(order)
    const casting = new Casting(ask.voice, order.preset, ask.language)
    const characters = charactersOf(order.text)
    const quantities: Quantity[] = [{ unit: 'characters', amount: characters }]
    const exchange = await dispatchRequest(deps, order, {
      ask,
      atOnce: false,
      worstCase: () => quantities,
      run: (row, call, { speech }) => {
        const request = ttsRequest(row, order, ask, casting.voiceFor(row), order.text)
        return openSpeech(deps.convert, speech?.tts, 'text', request, call, deps.limits.tts.idleMs)
      },
    })
    return { route: exchange.route, characters, audio: delivered(exchange, quantities) }
  }
}

/** The provider bills what it was sent, so a listener who leaves early owes all of it; audio that broke off is owed by nobody. */
function delivered(
  exchange: DispatchedRequest<AsyncIterable<Uint8Array>>,
  quantities: Quantity[],
): AsyncIterable<Uint8Array> {
  const owed = (error: unknown) =>
    error instanceof ProviderError && error.errorClass !== 'cancelled' ? [] : quantities
  const done = () => exchange.succeed(quantities, { firstByteMs: exchange.elapsedMs })
  return deliver(exchange, exchange.value, { done, owed })
}
