/** ElevenLabs Scribe realtime beyond the shared suite: the request, the events, and the end of a session. */
import t, { type Test } from 'tap'
import type { ErrorClass } from '../../../domain/ports/provider-error.ts'
import type { SttStreamRequest } from '../../../domain/ports/stt.ts'
import { createElevenLabsProvider } from '../../../providers/elevenlabs/provider.ts'
import { outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { TestClock } from '../../clock.ts'
import { failureOf, never, present, until } from '../suite/given.ts'
import { type Listening, listen, type SttStreamGiven, send, sttStreamSuite } from '../suite/stt-live.ts'
import { type StubSocket, sinePcm, startStub } from '../suite/stub-server.ts'
import { apiKey, options, provider } from './setup.ts'
import { startElevenLabsStub } from './stub.ts'

const stub = await startElevenLabsStub()
t.teardown(() => stub.close())
const realtime: SttStreamGiven = { provider, stub, apiKey, model: 'scribe_v2_realtime' }
const elevenlabs = provider(stub.url)
t.teardown(() => elevenlabs.close())

t.test('ElevenLabs Scribe passes the shared adapter tests for live recognition', (t) => sttStreamSuite(t, realtime))

t.test('a realtime session of ElevenLabs Scribe sends the query and the audio that the vendor expects', async (t) => {
  await t.test('the options of a realtime session are sent in the query', async (t) => {
    stub.behave('ok')
    const request: Partial<SttStreamRequest> = { words: true, endpointingMs: 100, keywords: ['Parley', 'SIP'] }
    const { stream, events } = await listen(t, elevenlabs, realtime, never, request)
    send({ stream, events }, sinePcm(16_000, 16_000), realtime)
    stream.flush()
    await until(() => events.some((event) => event.type === 'transcript' && event.transcript.isFinal), 'no final')
    stream.close()
    const { pathname, searchParams } = new URL(stub.seen[0]?.path ?? '', stub.url)
    t.equal(pathname, '/v1/speech-to-text/realtime')
    t.same(
      [...searchParams],
      [
        ['model_id', 'scribe_v2_realtime'],
        ['audio_format', 'pcm_16000'],
        ['commit_strategy', 'vad'],
        ['include_timestamps', 'true'],
        ['include_language_detection', 'true'],
        ['vad_silence_threshold_secs', '0.3'],
        ['keyterms', 'Parley'],
        ['keyterms', 'SIP'],
      ],
    )
    t.same(JSON.parse(stub.seen[0]?.texts.at(-1) ?? ''), {
      message_type: 'input_audio_chunk',
      audio_base_64: '',
      commit: true,
      sample_rate: 16_000,
    })
    const final = events.flatMap((event) => (event.type === 'transcript' ? [event.transcript] : [])).at(-1)
    t.match(final, { language: 'en', startMs: 0, endMs: 1000 })
    t.equal(final?.words?.map(({ text }) => text).join(' '), final?.text)
  })

  await t.test('G.711 is sent unchanged, and a long frame is sent in pieces', async (t) => {
    stub.behave('ok')
    const mulaw: SttStreamGiven = { ...realtime, audio: { encoding: 'mulaw', sampleRateHz: 8000, channels: 1 } }
    const { stream } = await listen(t, elevenlabs, mulaw, never)
    const audio = Buffer.from(Array.from({ length: 20_000 }, (_, i) => i % 251))
    stream.audio(audio)
    await until(() => stub.seen[0]?.audio.length === audio.length, 'the audio did not come')
    stream.close()
    t.ok(stub.seen[0]?.audio.equals(audio))
    t.equal(stub.seen[0]?.texts.length, 3, 'a second at most in a message')
    t.match(stub.seen[0]?.path, /audio_format=ulaw_8000/)
  })

  await t.test('more or longer `keyterms` than ElevenLabs allows are refused', async (t) => {
    const tooMany = Array.from({ length: 51 }, (_, i) => `term ${i}`)
    for (const keywords of [tooMany, ['x'.repeat(21)]])
      t.match(await failureOf(t, realtime, listen(t, elevenlabs, realtime, never, { keywords })), {
        errorClass: 'unsupported',
        sent: false,
      })
  })
})

t.test('a realtime session ends even if ElevenLabs does not acknowledge the end', async (t) => {
  await t.test('if a commit by ElevenLabs crosses our last commit, both transcripts arrive before the end', (t) =>
    against(t, async ({ server, opened, clock, untilText, texts }) => {
      server.say('partial_transcript', { text: 'One' })
      await untilText('One')
      opened.stream.end()
      await until(() => server.commits() === 1, 'no commit')
      server.say('committed_transcript', { text: 'One.' })
      await untilText('One.')
      await clock.advance(499)
      server.say('committed_transcript', { text: 'Two.' })
      await untilText('Two.')
      await clock.advance(499)
      t.equal(opened.events.at(-1)?.type, 'transcript', 'another may still come')
      await clock.advance(1)
      t.equal(opened.events.at(-1)?.type, 'ended')
      t.same(texts(), ['One', 'One.', 'Two.'])
    }),
  )
  await t.test('if a commit is throttled, the pending transcript is still reported before the end', (t) =>
    against(t, async ({ server, opened, clock, untilText }) => {
      server.say('partial_transcript', { text: 'One' })
      await untilText('One')
      opened.stream.end()
      server.say('commit_throttled', { error: 'too little' })
      await clock.advance(10_000)
      t.equal(opened.events.at(-1)?.type, 'transcript', 'what was said is waited for')
      server.say('committed_transcript', { text: 'One.' })
      await untilText('One.')
      await clock.advance(500)
      t.equal(opened.events.at(-1)?.type, 'ended')
    }),
  )
  await t.test('if the last transcript never arrives, the stream fails with a timeout', (t) =>
    against(t, async ({ server, opened, clock, untilText }) => {
      server.say('partial_transcript', { text: 'One' })
      await untilText('One')
      opened.stream.end()
      await clock.advance(outboundDefaults.idleMs)
      t.match(opened.events.at(-1), { type: 'failed', error: { errorClass: 'timeout' } })
    }),
  )
  await t.test('if ElevenLabs never answers the final silence, the session ends after a timeout', (t) =>
    against(t, async ({ opened, clock }) => {
      opened.stream.audio(Buffer.alloc(3200))
      opened.stream.end()
      await clock.advance(5000)
      t.same(
        opened.events.map(({ type }) => type),
        ['ended'],
      )
    }),
  )
  await t.test('a close by ElevenLabs is a failure only if speech is not yet committed', async (t) => {
    for (const [text, last] of [
      ['One.', 'ended'],
      [null, 'failed'],
    ] as const)
      await against(t, async ({ server, opened, untilText }) => {
        server.say('partial_transcript', { text: 'One' })
        await untilText('One')
        opened.stream.end()
        if (text !== null) server.say('committed_transcript', { text })
        server.socket.close(1000)
        await until(() => ['ended', 'failed'].includes(opened.events.at(-1)?.type ?? ''), 'not over')
        t.equal(opened.events.at(-1)?.type, last)
      })
  })
})

t.test('frames that are not transcripts do not break a realtime session', async (t) => {
  await t.test('a session goes on if ElevenLabs throttles a commit, sends a warning or an unknown frame', (t) =>
    against(t, async ({ server, opened, untilText }) => {
      opened.stream.flush()
      server.say('commit_throttled', { error: 'too little' })
      server.say('warning', { warning: 'Mind the gap.' })
      server.say('something_new')
      server.say('partial_transcript', { text: '' })
      server.say('committed_transcript', { text: ' ' })
      server.say('committed_transcript', { text: 'One.' })
      await untilText('One.')
      t.same(
        opened.events.map(({ type }) => type),
        ['speech', 'transcript'],
      )
    }),
  )
  await t.test('a transcript is reported if its word times come later, or if word times are missing', (t) =>
    against(
      t,
      async ({ server, opened, untilText, texts }) => {
        const words = [{ text: 'One.', start: 0.5, end: 0.9, type: 'word', logprob: -0.1 }]
        server.say('committed_transcript', { text: 'One.' })
        server.say('committed_transcript_with_timestamps', { text: 'One.', language_code: 'deu', words })
        server.say('committed_transcript', { text: 'Two.' })
        server.say('partial_transcript', { text: 'Three' })
        await untilText('Three')
        t.same(texts(), ['One.', 'Two.', 'Three'])
        const [first, second] = opened.events.flatMap((event) =>
          event.type === 'transcript' ? [event.transcript] : [],
        )
        t.match(first, {
          utterance: 0,
          startMs: 500,
          endMs: 900,
          language: 'de',
          words: [{ text: 'One.', startMs: 500 }],
        })
        t.match(second, { utterance: 1, isFinal: true, words: [] })
      },
      { words: true },
    ),
  )
  await t.test('a transcript does not wait longer than its limit for word times', (t) =>
    against(
      t,
      async ({ server, opened, clock, untilText, texts }) => {
        server.say('committed_transcript', { text: 'One.' })
        await until(() => clock.timers >= 2, 'it is not held')
        await clock.advance(1000)
        server.say('committed_transcript_with_timestamps', { text: 'One.', words: [] })
        server.say('committed_transcript', { text: 'Two.' })
        opened.stream.end()
        server.socket.close(1000)
        await untilText('Two.')
        t.same(texts(), ['One.', 'Two.'], 'each is reported once')
        t.equal(opened.events.at(-1)?.type, 'ended')
      },
      { words: true },
    ),
  )
  await t.test('silence that keeps a session alive does not shift the times of its transcripts', (t) =>
    against(
      t,
      async ({ server, opened, clock, untilText }) => {
        opened.stream.audio(Buffer.alloc(32_000))
        await clock.advance(9000)
        await until(() => server.bytes() === 32_000 + 3 * 3200, 'no silence was sent')
        const words = [{ text: 'One.', start: 1.3, end: 1.7, type: 'word', logprob: -0.1 }]
        server.say('committed_transcript_with_timestamps', { text: 'One.', words })
        await untilText('One.')
        t.match(opened.events.at(-1), { transcript: { startMs: 1000, endMs: 1400 } })
      },
      { words: true },
    ),
  )
})

t.test('each error type of ElevenLabs Scribe has its error class', async (t) => {
  const classes: Record<string, ErrorClass> = {
    error: 'server',
    auth_error: 'auth',
    quota_exceeded: 'quota',
    unaccepted_terms: 'auth',
    rate_limited: 'rate_limited',
    queue_overflow: 'overloaded',
    resource_exhausted: 'overloaded',
    session_time_limit_exceeded: 'timeout',
    input_error: 'bad_request',
    invalid_request: 'bad_request',
    chunk_size_exceeded: 'bad_request',
    insufficient_audio_activity: 'timeout',
    transcriber_error: 'server',
    something_new_error: 'server',
  }
  for (const [type, errorClass] of Object.entries(classes))
    await against(t, async ({ server, opened }) => {
      server.say(type, { error: `about the key ${apiKey}` })
      await until(() => opened.events.length > 0, 'no event came')
      t.match(opened.events, [{ type: 'failed', error: { errorClass, sent: true } }], type)
    })
})

type Played = {
  server: {
    say: (type: string, fields?: object) => void
    socket: StubSocket
    commits: () => number
    bytes: () => number
  }
  opened: Listening
  clock: TestClock
  /** Resolves when the stream has reported this text. */
  untilText: (text: string) => Promise<void>
  texts: () => string[]
}

/** A session whose server sends only what `play` requires. */
async function against(
  t: Test,
  play: (played: Played) => Promise<void>,
  changes: Partial<SttStreamRequest> = {},
): Promise<void> {
  const clock = new TestClock()
  let server: Played['server'] | undefined
  const other = await startStub({
    socket: (socket, { texts }) => {
      socket.listen({})
      const say = (message_type: string, fields: object = {}) => socket.send({ message_type, ...fields })
      const sent = () => texts.map((text) => JSON.parse(text) as { commit: boolean; audio_base_64: string })
      const commits = () => sent().filter(({ commit }) => commit).length
      const bytes = () =>
        sent().reduce((sum, { audio_base_64 }) => sum + Buffer.from(audio_base_64, 'base64').length, 0)
      server = { say, socket, commits, bytes }
      say('session_started')
    },
  })
  const adapter = createElevenLabsProvider({ ...options(other.url), clock })
  try {
    const opened = await listen(t, adapter, realtime, never, changes)
    const texts = () => opened.events.flatMap((event) => (event.type === 'transcript' ? [event.transcript.text] : []))
    const untilText = (text: string) => until(() => texts().at(-1) === text, `${text} was not reported`)
    await play({ server: present(server, 'session'), opened, clock, untilText, texts })
    opened.stream.close()
    t.equal(clock.timers, 0, 'no timer is left')
  } finally {
    await adapter.close()
    await other.close()
  }
}
