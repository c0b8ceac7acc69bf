/** The requests for recognition at Deepgram, and how the events of its two live protocols become utterances. */
import t from 'tap'
import type { SttOptions, SttStreamRequest } from '../../../domain/ports/stt.ts'
import { TestClock } from '../../clock.ts'
import { never, present, providerErrorOf, until } from '../suite/given.ts'
import { rawRecording, recordingPcm } from '../suite/stt.ts'
import { finalsOf, isOver, listen } from '../suite/stt-live.ts'
import { apiKey, openDeepgram } from './setup.ts'

const { adapter, asked, given, lastQuery, listenTo, stt, stub } = await openDeepgram(t)

t.test('a recording is sent as the body of a Deepgram request, and all other fields as its query', async (t) => {
  const ask = async (model: string, language?: string, options: SttOptions = {}) => {
    const recording = rawRecording(recordingPcm)
    const transcript = await stt.transcribe({ model, recording, options, ...(language && { language }) }, never)
    return { transcript, query: asked() }
  }
  const base = { punctuate: 'true', utterances: 'true' }
  t.same((await ask('nova-3')).query, { ...base, model: 'nova-3', detect_language: 'true' })
  t.same((await ask('nova-3-medical')).query, { ...base, model: 'nova-3-medical' })
  t.same((await ask('nova-3', 'fil')).query, { ...base, model: 'nova-3', language: 'tl' })
  t.match((await ask('nova-2', 'de-CH')).query, { language: 'de-CH' })
  t.match(stub.seen[0], { method: 'POST', headers: { authorization: `Token ${apiKey}`, 'content-type': 'audio/wav' } })
  const providerOptions = { smart_format: true, punctuate: false, redact: 'pci' }
  const full = await ask('nova-3', 'en', { diarization: true, wordTimestamps: true, providerOptions })
  t.match(full.query, { diarize_model: 'latest', smart_format: 'true', punctuate: 'false', redact: 'pci' })
  t.match(full.transcript, {
    language: 'en',
    segments: [{ startMs: 0, endMs: 250, speaker: '0' }],
    words: [
      { startMs: 0, endMs: 100, confidence: 0.9, speaker: '0' },
      { startMs: 100, endMs: 200, speaker: '1' },
    ],
  })
  t.notOk('words' in (await ask('nova-3')).transcript, 'words that nobody asked for')
  for (const [model, name] of [
    ['nova-3', 'keyterm'],
    ['nova-2', 'keywords'],
  ] as const) {
    await ask(model, 'en', { keywords: ['Parley', 'two words'] })
    t.same(lastQuery().getAll(name), ['Parley', 'two words'])
  }
  const flux = { model: 'flux-general-en', recording: rawRecording(recordingPcm), options: {} }
  t.match(await providerErrorOf(stt.transcribe(flux, never)), { errorClass: 'unsupported', sent: false })
})

t.test('each live protocol of Deepgram has its options in the query', async (t) => {
  const ask = async (changes: Partial<SttStreamRequest>) => {
    const { stream } = await listenTo(changes)
    stream.close()
    return asked()
  }
  const nova = { model: 'nova-3', encoding: 'linear16', sample_rate: '16000', punctuate: 'true', vad_events: 'true' }
  t.same(await ask({}), { ...nova, language: 'multi', interim_results: 'true' })
  t.same(await ask({ language: 'nb', interimResults: false, endpointingMs: 300 }), {
    ...nova,
    language: 'no',
    endpointing: '300',
  })
  t.match(await ask({ audio: { encoding: 'mulaw', sampleRateHz: 8000, channels: 2 }, keywords: ['Parley'] }), {
    encoding: 'mulaw',
    sample_rate: '8000',
    channels: '2',
    keyterm: 'Parley',
  })
  t.notOk('language' in (await ask({ model: 'nova-3-medical' })))
  const flux = { encoding: 'linear16', sample_rate: '16000' }
  t.same(await ask({ model: 'flux-general-en', language: 'en', keywords: ['Parley'] }), {
    ...flux,
    model: 'flux-general-en',
    keyterm: 'Parley',
  })
  t.same(await ask({ model: 'flux-general-multi', language: 'de', endpointingMs: 100 }), {
    ...flux,
    model: 'flux-general-multi',
    language_hint: 'de',
    eot_timeout_ms: '500',
  })
})

const segment = (transcript: string, start: number, flags: object = {}) => ({
  type: 'Results',
  channel_index: [0, 1],
  start,
  duration: 1,
  channel: { alternatives: [{ transcript, confidence: 0.5, words: [], languages: ['de'] }] },
  ...flags,
})
const final = { is_final: true, speech_final: false }
const last = { is_final: true, speech_final: true }

t.test('segments of Nova are joined to utterances', async (t) => {
  const played = [
    { type: 'SpeechStarted', channel: [0, 1], timestamp: 0.25 },
    segment('', 0),
    segment('one', 0),
    segment('one two', 0, final),
    segment('', 1, final),
    segment('', 2, last),
    segment('', 3, last),
    segment('three', 4, last),
    segment('four', 5, final),
  ]
  stub.playSocket((socket) =>
    socket.listen({
      text: () => {
        for (const frame of played) socket.send(frame)
        socket.send({ type: 'Metadata', duration: 6.5 })
      },
    }),
  )
  const listening = await listenTo()
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  const reported = listening.events.map((event) => {
    if (event.type !== 'transcript') return event
    const { utterance, text, isFinal, speechFinal, startMs, endMs } = event.transcript
    return [utterance, text, isFinal, speechFinal, startMs, endMs]
  })
  t.same(reported, [
    { type: 'speech', startMs: 250 },
    [0, 'one', false, false, 0, 1000],
    [0, 'one two', true, false, 0, 1000],
    [0, '', true, true, 2000, 3000],
    [1, 'three', true, true, 4000, 5000],
    [2, 'four', true, true, 5000, 6000],
    { type: 'ended', billedMs: 6500 },
  ])
  t.match(finalsOf(listening.events, 1), [{ confidence: 0.5, language: 'de' }])
  listening.stream.close()
})

t.test('word times are reported only if they were requested', async (t) => {
  const words = [
    { word: 'hi', punctuated_word: 'Hi,', start: 1.1, end: 1.2, confidence: 0.7 },
    { word: 'you', start: 1.3, end: 1.4 },
  ]
  const frame = segment('Hi, you', 0, last)
  frame.channel.alternatives[0]!.words = words as never
  stub.playSocket((socket) => socket.listen({ binary: () => socket.send(frame) }))
  for (const wanted of [true, false]) {
    const { stream, events } = await listenTo({ words: wanted })
    stream.audio(new Uint8Array(2))
    await until(() => events.length > 0, 'no event came')
    const [transcript] = finalsOf(events, 0)
    t.match(transcript, { startMs: 1100, endMs: 1400 })
    const reported = [
      { text: 'Hi,', startMs: 1100, endMs: 1200, confidence: 0.7 },
      { text: 'you', startMs: 1300, endMs: 1400 },
    ]
    t.same(transcript?.words, wanted ? reported : undefined)
    stream.close()
  }
})

t.test('turns of Flux are reported when they change, and an open turn becomes final at the end', async (t) => {
  const turn = (event: string, turn_index: number, transcript: string) => ({
    type: 'TurnInfo',
    event,
    turn_index,
    transcript,
    audio_window_start: turn_index,
    audio_window_end: turn_index + 1,
    words: [],
    end_of_turn_confidence: 0.5,
    languages: ['es', 'en'],
  })
  stub.playSocket((socket) => {
    socket.send({ type: 'Connected', request_id: 'stub', sequence_id: 0 })
    socket.listen({
      text: () => {
        socket.send(turn('Update', 0, ''))
        socket.send(turn('StartOfTurn', 0, 'one'))
        socket.send(turn('Update', 0, 'one'))
        socket.send(turn('EagerEndOfTurn', 0, 'one two'))
        socket.send(turn('TurnResumed', 0, 'one two'))
        socket.send(turn('EndOfTurn', 0, 'one two three'))
        socket.send({ type: 'SomethingNew' })
        socket.send(turn('StartOfTurn', 1, 'four'))
        socket.close()
      },
    })
  })
  const listening = await listenTo({ model: 'flux-general-multi' })
  listening.stream.end()
  await until(() => isOver(listening), 'it does not end')
  const reported = listening.events.map((event) =>
    event.type === 'transcript'
      ? [event.transcript.utterance, event.transcript.text, event.transcript.isFinal, event.transcript.speechFinal]
      : event.type,
  )
  t.same(reported, [
    'speech',
    [0, 'one', false, false],
    [0, 'one two', false, false],
    [0, 'one two three', true, true],
    'speech',
    [1, 'four', false, false],
    [1, 'four', true, true],
    'ended',
  ])
  t.match(finalsOf(listening.events, 1), [{ startMs: 1000, endMs: 2000, language: 'es' }])
  listening.stream.close()
})

t.test('Deepgram gets keep-alive messages in a pause, but not during speech or after the end', async (t) => {
  const clock = new TestClock()
  const own = adapter({ clock })
  const { stream } = await listen(t, own, given, never)
  const request = present(stub.seen[0], 'request')
  const came = (texts: string[]) => until(() => request.texts.length === texts.length, 'not what was due')
  const [alive, closing] = ['{"type":"KeepAlive"}', '{"type":"CloseStream"}']
  await clock.advance(4000)
  await came([alive])
  stream.audio(new Uint8Array(320))
  await clock.advance(4000)
  stream.audio(new Uint8Array(0))
  await clock.advance(4000)
  await came([alive, alive])
  stream.end()
  await clock.advance(8000)
  await came([alive, alive, closing])
  t.same(request.texts, [alive, alive, closing])
  t.equal(request.audio.length, 320)
  stream.close()
  t.equal(clock.timers, 0, 'no timer is left')
  await own.close()
})
