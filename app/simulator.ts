/**
 * This process's simulated carrier. It starts with its first call. Its simulated remote parties speak and recognize
 * with the embedded speech engines.
 */
import { createHmac } from 'node:crypto'
import type { Recording } from '../audio/format.ts'
import { baseOf, defaultLanguage } from '../domain/catalog/language.ts'
import type { Provider } from '../domain/ports/provider.ts'
import type { SimulatorControl } from '../handlers/internal/simulator.ts'
import { languageTagIn } from '../providers/local/script/languages/languages.ts'
import type { Speech } from '../simulator/media/clip.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/simulator.ts'
import type { App } from './app.ts'

export type SimulatedCarrier = {
  /** Starts the simulator if it does not run. */
  open(): Promise<Simulator>
  /** Lets HTTP routes (open only to this machine) advance the simulator's clock. */
  control: SimulatorControl
  close(): Promise<void>
}

/** Returns the base language of the agent in a call. `legId` is the simulated carrier's id for the leg. */
export type LanguageOfLeg = (legId: string) => Promise<string>

type CarrierParts = { providers: readonly Provider[]; languageOf: LanguageOfLeg; webhookUrl: () => string }

/** Makes the simulated carrier. `webhookUrl` returns the URL for the simulator's events. */
export function createSimulatedCarrier(
  { clock, secrets }: Pick<App, 'clock' | 'secrets'>,
  { providers, languageOf, webhookUrl }: CarrierParts,
): SimulatedCarrier {
  const local = providers.find(({ id }) => id === 'local')
  let running: Promise<Simulator> | null = null
  const open = () => {
    running ??= startSimulator({
      clock,
      ...voicesOf(local, languageOf),
      webhookUrl: webhookUrl(),
      signingSeed: simulatorSeed(secrets.masterKey),
    })
    running.catch(() => {
      running = null
    })
    return running
  }
  return {
    open,
    control: {
      call: async (call) => (await open()).call({ ...call, language: languageTagIn(call.lines?.join(' ') ?? '') }),
      advance: async (byMs) => (await open()).advance(byMs),
    },
    close: async () => void (await (await running)?.close()),
  }
}

/** Returns a function that reads the agent's language from the leg's call. An unknown leg counts as English. */
export function languageOfLegs({ store }: Pick<App, 'store'>): LanguageOfLeg {
  return async (legId) => {
    const leg = await store.legs.find('simulator', { legId: null, carrierLegId: legId })
    const call = leg && (await store.calls.find(leg, leg.callId))
    return baseOf(call?.pipeline.intent.language ?? defaultLanguage)
  }
}

/**
 * Returns the seed for the simulator's keys. It is derived from the master key, because a deployment's processes read
 * events from each other's simulators.
 */
export function simulatorSeed(masterKey: string): Uint8Array {
  return createHmac('sha256', masterKey).update('simulated carrier').digest()
}

type Voices = Pick<SimulatorOptions, 'speak' | 'recognize'>

/** One second of silence. It is only played over the phone network, so the network's sample rate is enough. */
const silence = { samples: new Int16Array(8000), sampleRateHz: 8000 }

/** Returns the embedded voice for the language of a simulated party. */
function voiceFor(language: string): { model: string; language: string } {
  return language === 'en' ? { model: 'hibari', language } : { model: 'pico', language }
}

/**
 * Makes the simulated parties' voices. Each party understands the language of its call's agent. Without the embedded
 * engines, the parties are silent and understand nothing.
 */
function voicesOf(local: Provider | undefined, languageOf: LanguageOfLeg): Voices {
  const { tts, stt } = local?.ports.speech ?? {}
  return {
    speak: async (text, language) => {
      if (tts === undefined) return silence
      const outputFormat = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
      const request = { ...voiceFor(language), text, outputFormat }
      const spoken = await tts.synthesize(request, new AbortController().signal)
      const chunks: Uint8Array[] = []
      for await (const chunk of spoken.audio) chunks.push(chunk)
      const bytes = Uint8Array.from(Buffer.concat(chunks))
      return { samples: new Int16Array(bytes.buffer), sampleRateHz: spoken.format.sampleRateHz }
    },
    ...(stt && {
      recognize: async (speech, legId) => {
        const language = await languageOf(legId)
        const model = recognizerFor(local?.models ?? [], language)
        if (model === null) return ''
        const request = { model, recording: recordingOf(speech), language, options: {} }
        return (await stt.transcribe(request, new AbortController().signal)).text
      },
    }),
  }
}

/**
 * Returns the first recognizer for the language. For English it is the fastest. Null if no model is added for the
 * language.
 */
function recognizerFor(models: Provider['models'], language: string): string | null {
  return models.find(({ stage, languages }) => stage === 'stt' && languages.includes(language))?.id ?? null
}

function recordingOf({ samples, sampleRateHz }: Speech): Recording {
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  const format = { container: 'raw', encoding: 'pcm_s16le', sampleRateHz, channels: 1 } as const
  const durationMs = (samples.length * 1000) / sampleRateHz
  return { chunks: [bytes], bytes: bytes.length, format, dataOffset: 0, dataBytes: bytes.length, durationMs }
}
