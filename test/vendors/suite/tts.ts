/** The one behaviour suite of `Tts.synthesize`. The stub speaks `audio`, whatever the text. */
import type { Test } from 'tap'
import type { OutputFormat } from '../../../audio/format.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Speech, Tts, TtsRequest } from '../../../domain/speech/tts.ts'
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
  /** What is asked for. Absent: 24 kHz s16le mono. */
  wanted?: OutputFormat
  /** What the adapter answers to it. Absent: the same. */
  format?: OutputFormat
  /** What the stub speaks, as the adapter hands it on. Absent: `speechPcm`. */
  audio?: Uint8Array
  voice?: string
}

export const speechFormat: OutputFormat = { encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 }
/** 200 ms. */
export const speechPcm: Buffer = sinePcm(4800, speechFormat.sampleRateHz)

export async function ttsSuite(t: Test, given: TtsGiven): Promise<void> {
  await playSpeech(t, given, 'synthesize', (provider) => {
    const tts = present(provider.ports.speech?.tts, 'tts')
    return (request, signal) => tts.synthesize(request, signal)
  })
}

type Speak = Tts['synthesize']

/** Of either way to speak. */
export async function playSpeech(
  t: Test,
  given: TtsGiven,
  name: string,
  speakOf: (provider: Provider) => Speak,
  rules: PortRules = {},
): Promise<void> {
  await playOperation(t, given, rules, speaking(given, name, speakOf))
  const skip = skipOf('slow_first_byte', given, rules)
  await t.test(`${name}: a listener who leaves before the first byte ends the call`, { skip }, (t) =>
    withProvider(t, given, 'slow_first_byte', async (provider) => {
      const speech = await speakOf(provider)(sayOf(given), never)
      await speech.audio[Symbol.asyncIterator]().return?.()
      await untilLeft(given)
    }),
  )
  await t.test(`${name}: a listener who leaves in the middle ends the call`, (t) =>
    withProvider(t, given, 'ok', async (provider) => {
      const speech = await speakOf(provider)(sayOf(given), never)
      for await (const chunk of speech.audio) if (chunk.length > 0) break
    }),
  )
}

export const sayOf = ({ model, wanted = speechFormat, voice }: TtsGiven): TtsRequest => ({
  model,
  text: 'Hello there, how are you?',
  wanted,
  ...(voice !== undefined && { voice }),
})

export function checkSpeech(
  t: Test,
  heard: Heard,
  { wanted = speechFormat, format = wanted, audio = speechPcm }: TtsGiven,
): void {
  t.same(heard.format, format)
  t.ok(
    Buffer.concat(heard.items).equals(audio),
    `the audio is whole: ${Buffer.concat(heard.items).length} of ${audio.length} bytes`,
  )
  t.ok(
    heard.items.every(({ length }) => length > 0),
    'no chunk is empty',
  )
}

export type Heard = { format: OutputFormat; items: Uint8Array[]; firstMs: number }

export async function hear(speech: Promise<Speech>): Promise<Heard> {
  const startMs = performance.now()
  const { format, audio } = await speech
  const acceptedMs = performance.now() - startMs
  const { items, firstMs } = await timed(audio)
  // An iteration that ends without a byte is `empty` to the port's caller.
  if (items.every(({ length }) => length === 0)) throw new ProviderError('empty', { sent: true })
  return { format, items, firstMs: acceptedMs + firstMs }
}

function speaking(given: TtsGiven, name: string, speakOf: (provider: Provider) => Speak): Operation<Heard> {
  return {
    name,
    call: (provider, signal) => hear(speakOf(provider)(sayOf(given), signal)),
    check: (t, heard, cell) => {
      checkSpeech(t, heard, given)
      if (cell === 'slow_first_byte') t.ok(heard.firstMs >= slowMs - 10, 'a header is not media')
    },
  }
}
