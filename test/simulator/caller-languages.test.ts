/**
 * Tests the language that a simulated caller speaks and understands. The voices and recognizers record the requests
 * that they get.
 */
import t, { type Test } from 'tap'
import type { App } from '../../app/app.ts'
import type { Engines } from '../../app/engines.ts'
import type { Model } from '../../domain/ports/model.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { SttRequest } from '../../domain/ports/stt.ts'
import type { TtsRequest } from '../../domain/ports/tts.ts'
import { languageTagIn } from '../../providers/local/script/languages/languages.ts'
import { openWordEngines } from '../phone/engines.ts'
import { call } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'

type Asked = { spoken: TtsRequest[]; recognized: SttRequest[] }
type Words = { goodbye?: string; isWhisperThere?: boolean }

/** Opens the embedded engines, and keeps the requests to them. The other party's words are always `goodbye`. */
function recordingEngines({ goodbye = '', isWhisperThere = true }: Words): Asked & {
  open: (app: App) => Promise<Engines>
} {
  const asked: Asked = { spoken: [], recognized: [] }
  const recording = (provider: Provider): Provider => {
    const { tts, stt } = provider.ports.speech ?? {}
    if (provider.id !== 'local' || !tts || !stt) return provider
    const speech = {
      ...provider.ports.speech,
      tts: {
        synthesize(request: TtsRequest, signal: AbortSignal) {
          asked.spoken.push(request)
          return tts.synthesize(request, signal)
        },
      },
      stt: {
        ...stt,
        transcribe(request: SttRequest) {
          asked.recognized.push(request)
          return Promise.resolve({ text: goodbye, segments: [] })
        },
      },
    }
    const models = isWhisperThere ? withWhisper(provider) : provider.models
    return { ...provider, models, ports: { ...provider.ports, speech } }
  }
  const open = async (app: App) => {
    const { providers, vad } = await openWordEngines(app)
    return { providers: providers.map(recording), vad }
  }
  return { ...asked, open }
}

function withWhisper({ models, installable }: Provider): readonly Model[] {
  const missing = installable?.() ?? []
  return [...models, ...missing.map(({ model }) => model)]
}

/** Lets a caller say these lines to an agent. The agent's first words are then recognized. */
async function converse(t: Test, language: string, lines: readonly string[], words: Words = {}) {
  const engines = recordingEngines(words)
  const parley = await ownServer(t, {}, { engines: engines.open })
  const agent = { name: language, systemPrompt: 'A desk.', firstMessage: 'One two three.', intent: { language } }
  const made = await call(parley, 'POST', '/v1/agents', agent)
  t.equal(made.status, 201, made.text)
  const agentId = made.json<{ id: string }>().id
  const [number] = (await call(parley, 'GET', '/v1/phone-numbers')).json<{ id: string; e164: string }[]>()
  await call(parley, 'PATCH', `/v1/phone-numbers/${number?.id ?? ''}`, { agentId })
  const simulated = await call(parley, 'POST', '/simulator/calls', { to: number?.e164, lines })
  t.equal(simulated.status, 201, simulated.text)
  return engines
}

const languagesOf = (spoken: readonly TtsRequest[], texts: readonly string[]) =>
  texts.map((text) => spoken.find((request) => request.text === text)?.language)

t.test('a simulated caller says each line in the language of all lines', async (t) => {
  const lines = ['¿A qué hora es el desayuno?', '¿Se admiten perros?', 'Muchas gracias.']
  const { spoken } = await converse(t, 'en', lines)
  await until('all lines', () => Promise.resolve(lines.every((line) => spoken.some(({ text }) => text === line))))
  t.same(languagesOf(spoken, lines), ['es', 'es', 'es'])
})

t.test('thanks and greetings are enough to find the language', (t) => {
  const lines = { de: 'Vielen Dank.', es: 'Muchas gracias.', fr: 'Merci beaucoup.', it: 'Grazie mille.' }
  for (const [language, line] of Object.entries(lines)) t.equal(languageTagIn(line), language, line)
  t.end()
})

t.test('a simulated caller understands the language of the agent, and its goodbye', async (t) => {
  const { spoken, recognized } = await converse(t, 'de', ['Wann gibt es Frühstück?'], { goodbye: 'Auf Wiederhören.' })
  await until('the words', () => Promise.resolve(recognized.length > 0))
  t.match(recognized[0], { model: 'whisper-base', language: 'de' })
  await until('the farewell', () => Promise.resolve(spoken.some(({ text }) => text === 'Auf Wiederhören.')))
  t.same(languagesOf(spoken, ['Auf Wiederhören.']), ['de'])
})

t.test('a simulated caller understands an English agent with the faster recognizer', async (t) => {
  const { recognized } = await converse(t, 'en', ['When is breakfast served?'])
  await until('the words', () => Promise.resolve(recognized.length > 0))
  t.match(recognized[0], { model: 'moonshine-tiny-en', language: 'en' })
})
