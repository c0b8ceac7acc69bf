import type { OutputFormat } from '../../../audio/format.ts'
import { loopTurn } from '../../../audio/loop-turn.ts'
import { bytesPerMs } from '../../../audio/pcm.ts'
import { ProviderError } from '../../../domain/ports/provider-error.ts'
import type { Speech, Tts, TtsRequest } from '../../../domain/ports/tts.ts'
import { type PlainSentence, segmentMax, segments } from '../../../domain/speech/reading/sentences.ts'
import { type ChildPool, ownerOf } from '../children/child-pool.ts'
import { firstClause } from './first-clause.ts'
import type { TtsInput, TtsOutput } from './tts-messages.ts'
import { readingLanguage, type VoiceEngine, voiceFormat, voiceOf } from './voice-engine.ts'

/** A voice engine with the pool of its child processes. */
export type PooledVoice = { engine: VoiceEngine; pool: ChildPool }

export type LocalTtsOptions = {
  voices: readonly PooledVoice[]
  /** The time limit for one sentence. */
  jobTimeoutMs: number
}

/** Speaks with the engine that the request names as its model. */
export function createLocalTts({ voices, jobTimeoutMs }: LocalTtsOptions): Tts {
  const byModel = new Map(voices.map((voice) => [voice.engine.model, createEngineTts(voice, jobTimeoutMs)]))
  const ttsOf = ({ model }: TtsRequest): Required<Tts> => {
    const tts = byModel.get(model)
    if (tts === undefined) throw new ProviderError('unsupported', { sent: false })
    return tts
  }
  return {
    synthesize: async (request, signal) => ttsOf(request).synthesize(request, signal),
    live: async (request, signal) => ttsOf(request).live(request, signal),
  }
}

function createEngineTts({ engine, pool }: PooledVoice, jobTimeoutMs: number): Required<Tts> {
  function speak({ text, voice, speed, sampleRateHz }: Input, queued: Queued, signal: AbortSignal): Promise<TtsOutput> {
    const input: TtsInput = { text, voice, speed, sampleRateHz }
    const job = { input, ...queued, timeoutMs: jobTimeoutMs, expectedMs: text.length * engine.expectedMsPerChar }
    return pool.run(job, signal) as Promise<TtsOutput>
  }

  /**
   * Yields the speech. Each sentence is a separate job, so a slow client does not occupy a child process. The next
   * sentence is synthesized while the client reads the current sentence.
   */
  async function* speakAll(
    { inputs, onWordEnd }: SpeakRequest,
    first: Spoken,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const left = new AbortController()
    const queued = { owner: ownerOf(signal), continues: true }
    const either = AbortSignal.any([signal, left.signal])
    try {
      let fromMs = 0
      for (let spoken: Spoken | null = first; spoken !== null; ) {
        const { samples, ends } = await spoken.output
        for (const { place, endMs } of ends)
          onWordEnd?.({ place: spoken.input.sourcePlace(place), endMs: fromMs + endMs })
        fromMs += samples.length / bytesPerMs(voiceFormat(spoken.input.sampleRateHz))
        const { value: input } = await inputs.next()
        spoken = input ? { input, output: speak(input, queued, either) } : null
        // The loop's next iteration awaits this promise. If the client disconnects first, a failure must not become an
        // unhandled rejection.
        spoken?.output.catch(() => {})
        if (samples.length > 0) yield samples
      }
    } finally {
      left.abort()
    }
  }

  async function synthesize(request: TtsRequest, sampleRateHz: number, signal: AbortSignal): Promise<Speech> {
    pool.assertRoom(ownerOf(signal))
    const inputs = inputsOf(engine, request, sampleRateHz, ownerOf(signal))
    const { value: input } = await inputs.next()
    // The text contains only emoji or another script. The error is `bad_request` so no other provider is tried: the
    // text contains no English words.
    if (!input) throw new ProviderError('bad_request', { sent: false })
    const output = Promise.resolve(await speak(input, { owner: ownerOf(signal), continues: false }, signal))
    return { format: voiceFormat(sampleRateHz), audio: speakAll({ ...request, inputs }, { input, output }, signal) }
  }

  return {
    synthesize: (request, signal) => synthesize(request, childRateHz(engine, request.outputFormat), signal),
    // In a stream the first audio is urgent, so the child sends it before its conversion.
    live: (request, signal) => synthesize(request, engine.sampleRateHz, signal),
  }
}

/**
 * The highest sample rate for a conversion in the child process. The longest sentence is three minutes of audio, which
 * is one message with 17 MB at this rate.
 */
const childRateHzMax = 48_000

/**
 * The rate is converted in the child process if possible. A long text's conversion takes a tenth of a second for ten
 * seconds of audio, and on the event loop all other requests would wait for its steps.
 */
const childRateHz = (engine: VoiceEngine, { sampleRateHz }: OutputFormat) =>
  sampleRateHz <= childRateHzMax ? sampleRateHz : engine.sampleRateHz

type Queued = { owner: string; continues: boolean }
type Input = TtsInput & Pick<PlainSentence, 'sourcePlace'>
type Spoken = { input: Input; output: Promise<TtsOutput> }
type SpeakRequest = { inputs: AsyncGenerator<Input, undefined> } & Pick<TtsRequest, 'onWordEnd'>

/** Yields the sentences. The event loop can do other work between two segments of the text. Throws ProviderError. */
async function* inputsOf(
  engine: VoiceEngine,
  { text, speed = 1, ...wish }: TtsRequest,
  sampleRateHz: number,
  owner: string,
): AsyncGenerator<Input, undefined> {
  const voice = voiceOf(engine, wish)
  if (!voice) throw new ProviderError('unsupported', { sent: false })
  const language = readingLanguage(voice, wish.language)
  let isFirst = true
  for (const segment of segments(text)) {
    await loopTurn(segment.text.length / segmentMax, owner)
    for (const sentence of engine.sentences(segment.text, engine.sentenceCharsMax, language)) {
      const parts = isFirst ? firstClause(sentence, engine.firstCharsMax) : [sentence]
      isFirst = false
      for (const { text, sourcePlace } of parts)
        yield { text, voice: voice.id, speed, sampleRateHz, sourcePlace: (place) => segment.at + sourcePlace(place) }
    }
  }
}
