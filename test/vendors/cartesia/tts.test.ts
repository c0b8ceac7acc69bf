/** The requests for speech at Cartesia, and the socket for it. */
import t from 'tap'
import type { OutputFormat } from '../../../audio/format.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import type { Tts, TtsRequest, WordEnd } from '../../../domain/ports/tts.ts'
import { createCartesiaProvider } from '../../../providers/cartesia/provider.ts'
import { outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { never, present, providerErrorOf, until, waysToLeave } from '../suite/given.ts'
import { startStub } from '../suite/stub-server.ts'
import { readSpeech, speechFormat } from '../suite/tts.ts'
import { apiKey, options, provider } from './setup.ts'
import { startCartesiaStub } from './stub.ts'
import { spoken } from './stub-answers.ts'

const stub = await startCartesiaStub()
const cartesia = provider(stub.url)
const tts = present(cartesia.ports.speech?.tts, 'tts')
const liveOf = ({ ports: { speech } }: Provider) => present(speech?.tts?.live?.bind(speech.tts), 'live')
const live = liveOf(cartesia)
t.beforeEach(() => stub.behave('ok'))
t.teardown(async () => {
  await cartesia.close()
  await stub.close()
})

const say: TtsRequest = { model: 'sonic-3', text: 'Say "this"\n', outputFormat: speechFormat }
const katie = 'f786b574-daa5-4673-aa0c-cbe3e8534c02'

/** Reads the speech to its end. Returns it with the request that the stub received. */
async function asked(speak: Tts['synthesize'], request: Partial<TtsRequest> = {}) {
  stub.behave('ok')
  const { format, items } = await readSpeech(speak({ ...say, ...request }, never))
  const seen = present(stub.seen[0], 'request')
  const text = seen.texts[0] ?? seen.body.toString()
  return { seen, format, audio: Buffer.concat(items), body: JSON.parse(text) as Record<string, unknown> }
}

t.test('speech of Cartesia is requested in the nearest format, over HTTP and the socket', async (t) => {
  const formats: [OutputFormat['encoding'], number, string, OutputFormat['encoding'], number][] = [
    ['pcm_s16le', 8000, 'pcm_s16le', 'pcm_s16le', 8000],
    ['pcm_s16le', 11_025, 'pcm_s16le', 'pcm_s16le', 16_000],
    ['pcm_s16le', 96_000, 'pcm_s16le', 'pcm_s16le', 48_000],
    ['pcm_f32le', 32_000, 'pcm_f32le', 'pcm_f32le', 44_100],
    ['mulaw', 8000, 'pcm_mulaw', 'mulaw', 8000],
    ['alaw', 8000, 'pcm_alaw', 'alaw', 8000],
    ['alaw', 12_000, 'pcm_s16le', 'pcm_s16le', 16_000],
    ['opus', 48_000, 'pcm_s16le', 'pcm_s16le', 48_000],
  ]
  for (const speak of [tts.synthesize.bind(tts), live])
    for (const [encoding, sampleRateHz, name, emitted, rateHz] of formats) {
      const { body, format, audio } = await asked(speak, { outputFormat: { encoding, sampleRateHz, channels: 2 } })
      const output = { container: 'raw', encoding: name, sample_rate: rateHz }
      t.same(body['output_format'], output)
      t.same(format, { encoding: emitted, sampleRateHz: rateHz, channels: 1 })
      t.ok(audio.equals(spoken(output)))
    }
})

t.test('speech of Cartesia is requested with voice, language and speed', async (t) => {
  const output_format = { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 }
  const plain = { model_id: 'sonic-3', transcript: say.text, voice: katie, output_format }
  const own = { voice: 'my-voice', language: 'fil', speed: 1.5 }
  const full = { ...plain, voice: 'my-voice', language: 'tl', generation_config: { speed: 1.5 } }
  const http = tts.synthesize.bind(tts)
  const { body, seen } = await asked(http)
  t.same(body, plain)
  t.match(seen, {
    method: 'POST',
    path: '/tts/bytes',
    headers: { authorization: `Bearer ${apiKey}`, 'cartesia-version': '2026-08-14' },
  })
  t.same((await asked(http, own)).body, full)
  for (const [request, expected] of [
    [{}, plain],
    [own, full],
  ] as const) {
    const { body, seen } = await asked(live, request)
    const { context_id, ...rest } = body
    t.same(rest, { ...expected, continue: false })
    t.match(context_id, /^[0-9a-f-]{36}$/)
    t.match(seen, {
      path: '/tts/websocket',
      headers: { authorization: `Bearer ${apiKey}`, 'cartesia-version': '2026-08-14' },
    })
  }
})

t.test('word times are requested from Cartesia only if needed, and matched with positions in the text', async (t) => {
  const text = 'Say “$4.50”, twenty-one — café.'
  const ends: WordEnd[] = []
  const { body } = await asked(live, { text, onWordEnd: (end) => void ends.push(end) })
  t.equal(body['add_timestamps'], true)
  t.same(
    ends.map(({ place, endMs }) => [text.slice(0, place), Math.round(endMs)]),
    [
      ['Say', 30],
      ['Say “$4.50”,', 110],
      ['Say “$4.50”, twenty-one', 210],
      ['Say “$4.50”, twenty-one —', 220],
      ['Say “$4.50”, twenty-one — café.', 270],
    ],
  )
  t.notOk('add_timestamps' in (await asked(live)).body)
})

t.test('a speed that Cartesia does not support is not sent', async (t) => {
  for (const speak of [tts.synthesize.bind(tts), live])
    for (const speed of [0.5, 1.6])
      t.match(await providerErrorOf(speak({ ...say, speed }, never)), { errorClass: 'unsupported', sent: false })
  t.same(stub.seen, [])
})

t.test('if the reader leaves, unfinished Cartesia speech is cancelled', async (t) => {
  const texts = () => present(stub.seen[0], 'request').texts
  await readSpeech(live(say, never))
  t.equal(texts().length, 1)
  for (const leave of waysToLeave) {
    stub.behave('slow_first_byte')
    const leaving = new AbortController()
    const { audio } = await live(say, leaving.signal)
    leave(leaving, audio[Symbol.asyncIterator]())
    await until(() => texts().length === 2, 'not cancelled')
    const [order = '', cancel = ''] = texts()
    const { context_id } = JSON.parse(order) as { context_id: string }
    t.same(JSON.parse(cancel), { context_id, cancel: true })
  }
})

t.test('an answer of Cartesia that has no samples is a protocol failure', async (t) => {
  for (const type of ['audio/mpeg', 'text/html; charset=utf-8', 'audio/mp3']) {
    const other = await startStub({
      http: (_, response) => void response.writeHead(200, { 'content-type': type }).end('ID3'),
    })
    const adapter = provider(other.url)
    t.match(
      await providerErrorOf(present(adapter.ports.speech?.tts, 'tts').synthesize(say, never)),
      { errorClass: 'protocol' },
      type,
    )
    await adapter.close()
    await other.close()
  }
})

t.test('a Cartesia chunk without its data is a protocol failure', async (t) => {
  const other = await startStub({
    socket: (socket) => socket.listen({ text: () => socket.send({ type: 'chunk', done: false }) }),
  })
  const adapter = provider(other.url)
  t.match(await providerErrorOf(readSpeech(liveOf(adapter)(say, never))), { errorClass: 'protocol' })
  await adapter.close()
  await other.close()
})

t.test('speech over a socket that was opened in advance is the same as speech over a new socket', async (t) => {
  const outcomes: string[] = []
  const limits = { ...outboundDefaults, warmSockets: { perRoute: 1, socketsMax: 4, routeMs: 60_000 } }

  const warm = createCartesiaProvider({
    ...options(stub.url, limits),
    observeWarm: (outcome) => void outcomes.push(outcome),
  })
  for (const text of [1, 2, 3]) {
    const { items } = await readSpeech(liveOf(warm)(say, never))
    t.ok(Buffer.concat(items).equals(spoken({ encoding: 'pcm_s16le', sample_rate: 24_000 })))
    await until(() => stub.seen.length === text + 1, 'none was opened ahead')
  }
  t.same(outcomes, ['miss', 'hit', 'hit'], 'whatever its text and voice, a text finds it')
  await warm.close()
})
