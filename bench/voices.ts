/** Measures each embedded voice: processor time and wall time for one second's speech, the first audio, and memory. */
import { randomUUID } from 'node:crypto'
import { voiceEngines } from '../providers/local/voice-engines.ts'
import type { EngineVoice, VoiceEngine } from '../providers/local/voices/voice-engine.ts'
import type { Running } from '../test/process/parley.ts'
import { speech } from '../test/router/requests.ts'
import { EngineChild, startEngineServer } from './engine-server.ts'
import { type Figure, median } from './figure.ts'

/** The first sentence takes about two seconds to say, and measures the first audio. */
const textsIn: Readonly<Record<string, readonly [string, ...string[]]>> = {
  en: [
    'Please hold the line for a moment, thank you.',
    'Good morning, this is the dental practice, and my name is Ada.',
    'I can offer you Thursday at a quarter past two, or Friday at nine in the morning.',
    'Please leave your name and your telephone number after the tone.',
  ],
  de: [
    'Bitte bleiben Sie einen Augenblick am Apparat.',
    'Guten Morgen, hier ist die Praxis Doktor Brandt.',
    'Ich kann Ihnen Donnerstag um halb drei oder Freitag um neun anbieten.',
    'Bitte nennen Sie nach dem Signalton Ihren Namen und Ihre Telefonnummer.',
  ],
  es: [
    'Espere un momento al teléfono, por favor.',
    'Buenos días, le atiende la clínica dental del puerto.',
    'Puedo ofrecerle el jueves a las dos y cuarto o el viernes a las nueve.',
    'Deje su nombre y su número de teléfono después de la señal.',
  ],
  fr: [
    'Restez en ligne un instant, je vous prie.',
    'Bonjour, vous êtes au cabinet dentaire du port.',
    'Je peux vous proposer jeudi à deux heures et quart ou vendredi à neuf heures.',
    'Laissez votre nom et votre numéro de téléphone après le signal sonore.',
  ],
  it: [
    'Resti in linea un momento, per favore.',
    'Buongiorno, questo è lo studio dentistico del porto.',
    'Posso offrirle giovedì alle due e un quarto o venerdì alle nove.',
    'Lasci il suo nome e il suo numero di telefono dopo il segnale.',
  ],
}
const passes = 4
const firstAudioRuns = 15
/** Hibari's bars, from the requirements on the default voice. */
const hibari = 'hibari'
const bars = { firstAudioMs: 80, residentMiB: 150 }

export async function voiceFigures(dataDir: string): Promise<Figure[]> {
  const parley = await startEngineServer(dataDir)
  try {
    const all: Measured[] = []
    for (const engine of voiceEngines) all.push(...(await measureEngine(parley, engine)))
    const fliteCpu = all.find(({ engine }) => engine.model === 'flite')?.cpuPerS ?? Number.NaN
    return all.flatMap((measured) => figuresOf(measured, measured.engine.model === hibari ? fliteCpu : null))
  } finally {
    await parley.stop()
  }
}

type Measured = {
  engine: VoiceEngine
  voice: EngineVoice
  cpuPerS: number
  wallPerS: number
  speechS: number
  firstAudioMs: readonly number[]
  residentMiB: number
}

/** Flite's voices are all in the same program, so one voice is measured. */
async function measureEngine(parley: Running, engine: VoiceEngine): Promise<Measured[]> {
  const voices = engine.model === 'flite' ? engine.voices.slice(0, 1) : engine.voices
  const all: Measured[] = []
  for (const voice of voices) all.push(await measureVoice(parley, engine, voice))
  return all
}

async function measureVoice(parley: Running, engine: VoiceEngine, voice: EngineVoice): Promise<Measured> {
  const [first, ...others] = textsIn[voice.language] as readonly [string, ...string[]]
  const texts = [first, ...others]
  // A voice's first sentences take longer, because its files are loaded and its code is compiled.
  for (const text of texts) await speak(parley, engine, voice, text)
  const child = await EngineChild.of(parley, engine.entry)
  let speechS = 0
  const { cpuS, wallS } = await child.timeOf(async () => {
    for (let pass = 0; pass < passes; pass++)
      for (const text of texts) speechS += (await speak(parley, engine, voice, text)).speechS
  })
  const firstAudioMs: number[] = []
  for (let run = 0; run < firstAudioRuns; run++)
    firstAudioMs.push((await speak(parley, engine, voice, first)).firstAudioMs)
  const { residentMiB } = child
  return { engine, voice, speechS, firstAudioMs, residentMiB, cpuPerS: cpuS / speechS, wallPerS: wallS / speechS }
}

async function speak(parley: Running, engine: VoiceEngine, voice: EngineVoice, input: string) {
  const headers = {
    authorization: `Bearer ${parley.key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  }
  const audio = { encoding: 'pcm_s16le', sample_rate_hz: engine.sampleRateHz, channels: 1 }
  const routing = { mode: 'explicit', model: `local/${engine.model}` }
  const body = JSON.stringify({ input, voice: voice.id, language: voice.language, audio, routing })
  const startedMs = performance.now()
  const answer = await fetch(parley.url + speech, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(await answer.text())
  let firstAudioMs = Number.NaN
  let bytes = 0
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    if (bytes === 0) firstAudioMs = performance.now() - startedMs
    bytes += chunk.length
  }
  return { firstAudioMs, speechS: bytes / 2 / engine.sampleRateHz }
}

function figuresOf({ engine, voice, ...measured }: Measured, fliteCpu: number | null): Figure[] {
  const name = `voice ${engine.model}/${voice.id}`
  const first = measured.firstAudioMs
  return [
    {
      name: `${name}: processor time of 1 s of speech`,
      value: measured.cpuPerS * 1000,
      unit: 'ms',
      bar: fliteCpu === null ? null : fliteCpu * 1000,
      detail: `${measured.speechS.toFixed(0)} s of speech; real-time factor ${measured.wallPerS.toFixed(3)}`,
    },
    {
      name: `${name}: first audio of a sentence of 2 s, median`,
      value: median(first),
      unit: 'ms',
      bar: fliteCpu === null ? null : bars.firstAudioMs,
      detail: `${first.length} runs, longest ${Math.max(...first).toFixed(0)} ms, warm`,
    },
    {
      name: `${name}: memory of the process`,
      value: measured.residentMiB,
      unit: 'MiB',
      bar: fliteCpu === null ? null : bars.residentMiB,
      detail: 'after the sentences above',
    },
  ]
}
