import type { Quantity } from '../billing/ledger.ts'
import { deliver } from '../dispatch/deliver.ts'
import { type DispatchedRequest, dispatchRequest } from '../dispatch/dispatch.ts'
import type { DispatchDeps, RequestContext, Route } from '../dispatch/request.ts'
import { ProviderError } from '../ports/provider-error.ts'
import { Fault } from '../records/fault.ts'
import { charactersOf } from './characters.ts'
import { type ConvertSpeech, openSpeech } from './open-speech.ts'
import { castSpeech, type Manner, mannersBeyond, type SpokenForm, ttsRequest } from './spoken-form.ts'

export type SynthesizeDeps = DispatchDeps & { convert: ConvertSpeech }

export type SynthesizeInput = RequestContext & SpokenForm & { text: string }

/**
 * The answer to a speech request. `audio` can be read once. If the provider breaks off, the iteration throws a Fault.
 * `ignored` lists the settings that the model does not support.
 */
export type Synthesis = {
  route: Route
  characters: number
  audio: AsyncIterable<Uint8Array>
  ignored: readonly Manner[]
}

/**
 * Creates the operation for a whole text. The operation resolves when the first audio has arrived, and fails over until
 * then, so an answer always has audio. Throws a Fault.
 */
export function createSynthesize(deps: SynthesizeDeps): (input: SynthesizeInput) => Promise<Synthesis> {
  return async (input) => {
    if (input.text.trim() === '') throw new Fault({ kind: 'blank_text' })
    const { ask, casting } = castSpeech(input, deps.chooser.world.catalog)
    const characters = charactersOf(input.text)
    const quantities: Quantity[] = [{ unit: 'characters', amount: characters }]
    const dispatched = await dispatchRequest(deps, input, {
      ask,
      atOnce: false,
      worstCase: () => quantities,
      run: (row, signal, { speech }) => {
        const request = ttsRequest(row, input, ask, casting.voiceFor(row), input.text)
        return openSpeech(deps.convert, speech?.tts, 'text', request, signal, deps.limits.tts.idleMs)
      },
    })
    const ignored = mannersBeyond(dispatched.row, input)
    return { route: dispatched.route, characters, audio: delivered(dispatched, quantities), ignored }
  }
}

/**
 * Delivers the audio and bills the whole text, even if the reader stops early, because the provider bills it too. If
 * the audio broke off, it is not billed.
 */
function delivered(
  dispatched: DispatchedRequest<AsyncIterable<Uint8Array>>,
  quantities: Quantity[],
): AsyncIterable<Uint8Array> {
  const owed = (error: unknown) =>
    error instanceof ProviderError && error.errorClass !== 'cancelled' ? [] : quantities
  const done = () => dispatched.succeed(quantities, { firstByteMs: dispatched.elapsedMs })
  return deliver(dispatched, dispatched.value, { done, owed })
}
