/** The behaviour suite of `Tts.synthesize`. The stub speaks `audio` for every text. */
import type { Test } from 'tap'
import type { OutputFormat } from '../../../audio/format.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Speech, Tts, TtsRequest } from '../../../domain/ports/tts.ts'
import {
  never,
  type Operation,
  type PortRules,
  playOperation,
  present,
  type SuiteGiven,
  skipOf,
  timed,
  untilLeft,
  withProvider,
} from './given.ts'
import { sinePcm, slowMs } from './stub-server.ts'

export type TtsGiven = SuiteGiven & {
  /** The requested format. If absent, 24 kHz s16le mono. */
  wanted?: OutputFormat
  /** The format of the adapter's answer. If absent, the requested format. */
  format?: OutputFormat
  /** The stub's audio as the adapter passes it on. If absent, `speechPcm`. */
  audio?: Uint8Array
  voice?: string
}

export const speechFormat: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
/** This speech lasts 200 ms. */
export const speechPcm: Buffer = sinePcm(4800, speechFormat.sampleRateHz)

export async function ttsSuite(t: Test, given: TtsGiven): Promise<void> {
  await playSpeech(t, given, 'synthesize', (provider) => {
    const tts = present(provider.ports.speech?.tts, 'tts')
    return (request, signal) => tts.synthesize(request, signal)
  })
}

type Speak = Tts['synthesize']

/** These checks apply over HTTP and over a socket. */
export async function playSpeech(
  t: Test,
  given: TtsGiven,
  name: string,
  speakOf: (provider: Provider) => Speak,
  rules: PortRules = {},
): Promise<void> {
  await playOperation(t, given, rules, speaking(given, name, speakOf))
  const skip = skipOf('slow_first_byte', given, rules)
  await t.test(`${name}: if the listener leaves before the first byte, the request ends`, { skip }, (t) =>
    withProvider(t, given, 'slow_first_byte', async (provider) => {
      const speech = await speakOf(provider)(sayOf(given), never)
      await speech.audio[Symbol.asyncIterator]().return?.()
      await untilLeft(given)
    }),
  )
  await t.test(`${name}: if the listener leaves in the middle, the request ends`, (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      const speech = await speakOf(provider)(sayOf(given), never)
      for await (const chunk of speech.audio) if (chunk.length > 0) break
    }),
  )
}

export const sayOf = ({ model, wanted: outputFormat = speechFormat, voice }: TtsGiven): TtsRequest => ({
  model,
  text: 'Hello there, how are you?',
  outputFormat,
  ...(voice !== undefined && { voice }),
})

export function checkSpeech(
  t: Test,
  speech: ReceivedSpeech,
  { wanted = speechFormat, format = wanted, audio = speechPcm }: TtsGiven,
): void {
  t.same(speech.format, format)
  t.ok(
    Buffer.concat(speech.items).equals(audio),
    `the audio is whole: ${Buffer.concat(speech.items).length} of ${audio.length} bytes`,
  )
  t.ok(
    speech.items.every(({ length }) => length > 0),
    'no chunk is empty',
  )
}

export type ReceivedSpeech = { format: OutputFormat; items: Uint8Array[]; firstMs: number }

export async function readSpeech(speech: Promise<Speech>): Promise<ReceivedSpeech> {
  const startMs = performance.now()
  const { format, audio } = await speech
  const acceptedMs = performance.now() - startMs
  const { items, firstMs } = await timed(audio)
  // If all chunks are empty, the calling code gets an error with the class `empty`.
  if (items.every(({ length }) => length === 0)) throw new ProviderError('empty', { sent: true })
  return { format, items, firstMs: acceptedMs + firstMs }
}

function speaking(given: TtsGiven, name: string, speakOf: (provider: Provider) => Speak): Operation<ReceivedSpeech> {
  return {
    name,
    call: (provider, signal) => readSpeech(speakOf(provider)(sayOf(given), signal)),
    check: (t, speech, cell) => {
      checkSpeech(t, speech, given)
      if (cell === 'slow_first_byte') t.ok(speech.firstMs >= slowMs - 10, 'a header is not media')
    },
  }
}
