/** Speaks a whole turn with an embedded voice, in the way a session does, with every change to text and audio. */
import type { Test } from 'tap'
import { createConvertSpeech } from '../../audio/encode-output.ts'
import { AgentSpeech, type NormalizedSentence } from '../../domain/conversation/speaking/agent-speech.ts'
import { Playout } from '../../domain/conversation/speaking/playout.ts'
import { Replacements } from '../../domain/conversation/speaking/replacements.ts'
import type { Tts } from '../../domain/ports/tts.ts'
import { createSynthesizeStream } from '../../domain/speech/synthesize-stream.ts'
import { createResampler } from '../../runtime/optional.ts'
import { bench, caller, model, provider } from '../domain/fakes.ts'
import { eventually, type Local } from '../local/setup.ts'
import { pipeline } from './setup.ts'

/** A playout that accepts all audio at once. */
class OpenPlayout extends Playout {
  readonly samples: number[] = []

  override push(samples: Int16Array): boolean {
    this.samples.push(...samples)
    return true
  }
}

export type Given = {
  text: string
  /** The voice engine's model. */
  engine?: string
  voice?: string
  speed?: number
  rateHz?: number
  dictionary?: Record<string, string>
  /** If true, the voice reports no word times. */
  hidesTimes?: boolean
}

export async function spoken(
  t: Test,
  local: Local,
  { text, engine = 'flite', voice = 'slt', speed = 1, rateHz = 16_000, dictionary = {}, hidesTimes }: Given,
) {
  const reporting = local.provider.ports.speech!.tts!
  const tts: Tts = {
    synthesize: (request, signal) => {
      const silent = { ...request }
      delete silent.onWordEnd
      return reporting.synthesize(silent, signal)
    },
  }
  const capabilities = { ...model('tts').capabilities, speed: true, streaming: true }
  const voices = [{ id: voice, name: voice, gender: 'female' as const, styles: [], language: 'en' }]
  const all = bench([
    provider('local', [{ ...model('tts', { capabilities, voices }), id: engine }], {
      tts: hidesTimes ? tts : reporting,
    }),
  ])
  const pronounced = new Replacements(dictionary)
  const media = { sampleRateHz: rateHz, frame() {}, mark() {}, clear() {}, notify() {}, close() {} }
  const playout = new OpenPlayout(
    media,
    { clock: all.clock, pacer: { add: () => {}, delete: () => {} }, aheadMs: 400 },
    { started() {}, finished() {}, drained() {}, frame() {} },
  )
  const speech = new AgentSpeech(
    {
      clock: all.clock,
      synthesizeStream: createSynthesizeStream({
        ...all.deps,
        convert: createConvertSpeech(createResampler),
        streams: { totalMs: 3_600_000, waitingMax: 20_000 },
      }),
      request: (signal) => ({ caller: caller(), requestId: 'req_1', operation: 'session', signal }),
      normalize: (sentence): NormalizedSentence => ({ text: sentence, spoken: pronounced.in(sentence) }),
      presetLike: () => null,
      record: { failedOver() {} },
    },
    {
      pipeline: { ...pipeline, voice, ttsOptions: { ...pipeline.ttsOptions, speed } },
      routing: { mode: 'auto', objective: 'balanced' },
      voice: { route: null, preset: null },
    },
    { playout, sampleRateHz: rateHz },
    { text() {}, voiceLost: (fault) => t.fail(fault.kind) },
  )
  for (const piece of text.match(/.{1,7}/gs) ?? []) speech.say(piece)
  speech.finish()
  t.ok(await eventually(() => speech.usage !== null), 'it was spoken')
  return { speech, samples: playout.samples, durationMs: (playout.samples.length * 1000) / rateHz }
}
