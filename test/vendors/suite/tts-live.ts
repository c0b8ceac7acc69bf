/**
 * The behaviour suite of `Tts.live`: the matrix of `synthesize` over a socket, and texts one after another and at the
 * same time.
 */
import type { Test } from 'tap'
import type { Provider } from '../../../domain/ports/provider.ts'
import type { Tts } from '../../../domain/ports/tts.ts'
import { never, present, withProvider } from './given.ts'
import { checkSpeech, playSpeech, readSpeech, sayOf, type TtsGiven } from './tts.ts'

export async function ttsLiveSuite(t: Test, given: TtsGiven): Promise<void> {
  await playSpeech(t, given, 'live', liveOf, { callersDeadline: true })
  await t.test('live: consecutive texts are each spoken completely', (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      for (let i = 0; i < 3; i++) checkSpeech(t, await readSpeech(liveOf(provider)(sayOf(given), never)), given)
    }),
  )
  await t.test('live: the audio of two simultaneous texts is not mixed', (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      const live = liveOf(provider)
      const both = await Promise.all([readSpeech(live(sayOf(given), never)), readSpeech(live(sayOf(given), never))])
      for (const speech of both) checkSpeech(t, speech, given)
    }),
  )
}

function liveOf(provider: Provider): NonNullable<Tts['live']> {
  const tts = present(provider.ports.speech?.tts, 'tts')
  const live = present(tts.live?.bind(tts), 'tts.live')
  return live
}
