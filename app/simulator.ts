/**
 * This process's simulated carrier. It starts with its first call. Its simulated remote parties speak and recognize
 * with the embedded speech engines.
 */
import { createHmac } from 'node:crypto'
import type { Provider } from '../domain/ports/provider.ts'
import type { SimulatorControl } from '../handlers/internal/simulator.ts'
import { languageTagIn } from '../providers/local/script/languages/languages.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/simulator.ts'
import type { App } from './app.ts'

export type SimulatedCarrier = {
  /** Starts the simulator if it does not run. */
  open(): Promise<Simulator>
  /** Lets HTTP routes (open only to this machine) advance the simulator's clock. */
  control: SimulatorControl
  close(): Promise<void>
}

/** Makes the simulated carrier. `webhookUrl` returns the address for the simulator's events. */
export function createSimulatedCarrier(
  { clock, secrets }: Pick<App, 'clock' | 'secrets'>,
  { providers, webhookUrl }: { providers: readonly Provider[]; webhookUrl: () => string },
): SimulatedCarrier {
  const speech = providers.find(({ id }) => id === 'local')?.ports.speech
  let running: Promise<Simulator> | null = null
  const open = () => {
    running ??= startSimulator({
      clock,
      ...voicesOf(speech),
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
      call: async (call) => (await open()).call(call),
      advance: async (byMs) => (await open()).advance(byMs),
    },
    close: async () => void (await (await running)?.close()),
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

/** A simulated party speaks its text's language. In English the voice differs from the agent's default voice. */
function voiceFor(text: string): { model: string; voice?: string; language: string } {
  const language = languageTagIn(text)
  return language === 'en' ? { model: 'flite', voice: 'slt', language } : { model: 'pico', language }
}

/** Makes the voices of simulated parties. Without the embedded engines, they are silent and understand nothing. */
function voicesOf(speech: Provider['ports']['speech']): Voices {
  const { tts, stt } = speech ?? {}
  return {
    speak: async (text) => {
      if (tts === undefined) return silence
      const outputFormat = { encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 } as const
      const spoken = await tts.synthesize({ ...voiceFor(text), text, outputFormat }, new AbortController().signal)
      const chunks: Uint8Array[] = []
      for await (const chunk of spoken.audio) chunks.push(chunk)
      const bytes = Uint8Array.from(Buffer.concat(chunks))
      return { samples: new Int16Array(bytes.buffer), sampleRateHz: spoken.format.sampleRateHz }
    },
    ...(stt && {
      recognize: async ({ samples, sampleRateHz }) => {
        const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
        const format = { container: 'raw', encoding: 'pcm_s16le', sampleRateHz, channels: 1 } as const
        const durationMs = (samples.length * 1000) / sampleRateHz
        const size = bytes.length
        const recording = { chunks: [bytes], bytes: size, format, dataOffset: 0, dataBytes: size, durationMs }
        const request = { model: 'moonshine-tiny-en', recording, language: 'en', options: {} }
        return (await stt.transcribe(request, new AbortController().signal)).text
      },
    }),
  }
}
