/** The requests for speech at Deepgram, and the sockets for it. */
import t from 'tap'
import type { TtsRequest } from '../../../domain/ports/tts.ts'
import type { WarmOutcome } from '../../../providers/wire/socket.ts'
import { never, patient, present, providerErrorOf, until, waysToLeave } from '../suite/given.ts'
import { finalsOf, isOver, listen } from '../suite/stt-live.ts'
import { pause, sinePcm } from '../suite/stub-server.ts'
import { readSpeech, speechFormat, speechPcm } from '../suite/tts.ts'
import { openDeepgram } from './setup.ts'
import { queryOf } from './stub.ts'

const { adapter, asked, given, live, stub, tts } = await openDeepgram(t)

t.test('speech of Aura is requested with its fields, in the nearest format', async (t) => {
  const say = { model: 'aura-2', text: 'Hello' }
  const rows: [request: Partial<TtsRequest>, wire: object, format: object][] = [
    [{}, { model: 'aura-2-thalia-en', encoding: 'linear16', sample_rate: '24000' }, speechFormat],
    [{ voice: 'aura-2-orion-en' }, { model: 'aura-2-orion-en' }, speechFormat],
    [{ language: 'de-AT' }, { model: 'aura-2-viktoria-de' }, speechFormat],
    [{ language: 'es', speed: 0.7 }, { model: 'aura-2-celeste-es', speed: '0.7' }, speechFormat],
    [{ outputFormat: { ...speechFormat, sampleRateHz: 44_100 } }, { sample_rate: '48000' }, { sampleRateHz: 48_000 }],
    [
      { outputFormat: { encoding: 'pcm_f32le', sampleRateHz: 96_000, channels: 2 } },
      { encoding: 'linear16' },
      { sampleRateHz: 48_000, channels: 1 },
    ],
    [
      { outputFormat: { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } },
      { encoding: 'mulaw', sample_rate: '8000' },
      { encoding: 'mulaw' },
    ],
    [
      { outputFormat: { encoding: 'alaw', sampleRateHz: 22_050, channels: 1 } },
      { encoding: 'linear16', sample_rate: '24000' },
      { encoding: 'pcm_s16le' },
    ],
  ]
  const types: Partial<Record<string, string>> = { mulaw: 'audio/mulaw;rate=8000', opus: 'audio/ogg;codecs=opus' }
  const play = () =>
    stub.play((response, request) => {
      const type = types[queryOf(request).get('encoding') ?? ''] ?? 'audio/l16'
      response.writeHead(200, { 'content-type': type }).end(speechPcm)
    })
  for (const [change, wire, format] of rows) {
    const request = { ...say, outputFormat: speechFormat, ...change }
    play()
    t.match((await readSpeech(tts.synthesize(request, never))).format, format)
    t.match(asked(), { ...wire, container: 'none' }, JSON.stringify(change))
    t.same(JSON.parse(present(stub.seen.at(-1), 'request').body.toString()), { text: 'Hello' })
    stub.behave('ok')
    t.match((await readSpeech(live(request, never))).format, format)
    t.match(asked(), wire)
    t.notOk('container' in asked())
  }
  const opus = { ...say, outputFormat: { encoding: 'opus', sampleRateHz: 48_000, channels: 1 } } as const
  play()
  for (const speak of [tts.synthesize.bind(tts), live]) {
    t.match((await readSpeech(speak(opus, never))).format, opus.outputFormat)
    t.match(asked(), { encoding: 'opus', container: 'ogg' })
  }
  for (const change of [{ speed: 0.5 }, { speed: 2 }, { speed: 1.1, language: 'de' }])
    t.match(await providerErrorOf(tts.synthesize({ ...say, outputFormat: speechFormat, ...change }, never)), {
      errorClass: 'unsupported',
      sent: false,
    })
})

t.test('if speech is no longer needed, Deepgram receives a message that cancels the speech', async (t) => {
  const say = { model: 'aura-2', text: 'Say "this"\n', outputFormat: speechFormat }
  const begin = ['{"type":"Speak","text":"Say \\"this\\"\\n"}', '{"type":"Flush"}']
  const texts = () => present(stub.seen[0], 'request').texts
  await readSpeech(live(say, never))
  await until(() => texts().length === 3, 'no goodbye')
  t.same(texts(), [...begin, '{"type":"Close"}'])
  for (const leave of waysToLeave) {
    stub.behave('slow_first_byte')
    const leaving = new AbortController()
    const speech = await live(say, leaving.signal)
    const audio = speech.audio[Symbol.asyncIterator]()
    leave(leaving, audio)
    await until(() => texts().length === 4, 'no goodbye')
    t.same(texts(), [...begin, '{"type":"Clear"}', '{"type":"Close"}'])
  }
})

t.test('if Deepgram audio is not read, a full buffer fails the request', async (t) => {
  const own = adapter({ limits: { ...patient, answerBytesMax: 4000 } })
  const speech = await present(own.ports.speech?.tts?.live?.bind(own.ports.speech?.tts), 'live')(
    { model: 'aura-2', text: 'Hello', outputFormat: speechFormat },
    never,
  )
  await pause(50)
  t.match(await providerErrorOf(readSpeech(Promise.resolve(speech))), { errorClass: 'protocol' })
  await own.close()
})

t.test('after the first request a Deepgram socket is opened in advance', async (t) => {
  const outcomes: WarmOutcome[] = []
  const limits = { ...patient, warmSockets: { perRoute: 1, socketsMax: 4, routeMs: 60_000 } }
  const own = adapter({ limits, observeWarm: (outcome) => outcomes.push(outcome) })
  const speak = present(own.ports.speech?.tts?.live?.bind(own.ports.speech?.tts), 'live')
  for (let i = 0; i < 3; i++) {
    await readSpeech(speak({ model: 'aura-2', text: 'Hello', outputFormat: speechFormat }, never))
    await until(() => stub.seen.length === i + 2, 'no socket was opened ahead')
    await pause(30)
  }
  t.same(outcomes, ['miss', 'hit', 'hit'])
  const listening = await listen(t, own, { ...given, model: 'flux-general-en' }, never)
  listening.stream.audio(sinePcm(1600, 16_000))
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  t.equal(finalsOf(listening.events, 0).length, 1)
  await own.close()
  await until(() => stub.openSockets === 0, 'sockets wait for nobody')
})
