/**
 * Tests the limits of the media channel `sessionMedia` for marks, pace, overrides and reading: a value at the limit,
 * and a value beyond it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { until } from '../process/machine.ts'
import { fatal, serve, settle, silence } from './media-harness.ts'

const overrides = {
  agent: { prompt: 'Be brief.', firstMessage: '', language: 'de' },
  tts: { voiceId: 'rms', speed: 0.5 },
}
const flat = { prompt: 'Be brief.', firstMessage: '', language: 'de', voiceId: 'rms', speed: 0.5 }
const all = ['prompt', 'firstMessage', 'language', 'voiceId', 'speed'] as const

overEngines(t, (t) => {
  t.test('played frames of the client reach the session, even for marks from before an interruption', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    const { transport } = sink
    for (const name of ['a:100', 'a:200', 'a:300', 'a:400']) transport.mark(name)
    await client.take('mark')
    client.send({ type: 'played', mark: 'a:100' })
    client.send({ type: 'played', mark: 'a:200' })
    await settle(client)
    transport.clear()
    transport.mark('b:100')
    // The client sent this frame before it received `clear`.
    client.send({ type: 'played', mark: 'a:300' })
    client.send({ type: 'played', mark: 'a:300', playedMs: 40, cleared: true })
    client.send({ type: 'played', mark: 'a:400' })
    client.send({ type: 'played', mark: 'b:100' })
    await settle(client)
    t.same(sink.calls, [
      ['played', 'a:100'],
      ['played', 'a:200'],
      ['played', 'a:300'],
      ['cleared', 'a:300', 40],
      ['played', 'b:100'],
    ])
  })

  t.test('a played mark counts once, and only if it was sent', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.send({ type: 'played', mark: 'never:100' })
    client.send({ type: 'played', mark: null, playedMs: 5, cleared: true })
    client.send({ type: 'played', mark: null })
    await settle(client)
    sink.transport.mark('a:100')
    client.send({ type: 'played', mark: 'a:100' })
    client.send({ type: 'played', mark: 'a:100' })
    await settle(client)
    sink.transport.clear()
    client.send({ type: 'played', mark: 'never:100', playedMs: 0, cleared: true })
    sink.transport.clear()
    client.send({ type: 'played', mark: null, cleared: true })
    await settle(client)
    t.same(sink.calls, [
      ['played', 'a:100'],
      ['cleared', 'a:100', 0],
      ['cleared', 'a:100', 0],
    ])
  })

  t.test('50 text frames in 10 s are accepted, and one more is RATE_LIMITED; played frames do not count', async (t) => {
    const { join, clock } = await serve(t)
    const { client, sink } = await join()
    for (let i = 0; i < 50; i++) client.send({ type: 'contextual_update', text: String(i) })
    for (let i = 0; i < 100; i++) sink.transport.mark(`a:${i}`)
    for (let i = 0; i < 100; i++) client.send({ type: 'played', mark: `a:${i}` })
    await until('all calls', () => sink.calls.length === 150)
    await clock.advance(9999)
    t.equal(client.frames('error').length, 0)
    client.send({ type: 'ping' })
    t.same(await fatal(client), { code: 'RATE_LIMITED', fatal: true, closed: 1013 })
    t.same(sink.calls.at(-1), ['gone'])
  })

  t.test(
    '10 s after the limit of text frames was used up, 50 more are accepted, and `played` frames count too',
    async (t) => {
      const { join, clock } = await serve(t)
      const { client, sink } = await join()
      for (let i = 0; i < 50; i++) client.send({ type: 'contextual_update', text: String(i) })
      await until('all calls', () => sink.calls.length === 50)
      await clock.advance(10_000)
      for (let i = 0; i < 50; i++) client.send({ type: 'played', mark: 'never' })
      client.send({ type: 'played', mark: 'never' })
      t.same(await fatal(client), { code: 'RATE_LIMITED', fatal: true, closed: 1013 }, 'answers to nothing count')
    },
  )

  t.test('audio may be up to 2 s ahead of real time', async (t) => {
    const { join, clock } = await serve(t)
    const { client, sink } = await join()
    for (let i = 0; i < 10; i++) client.sendBytes(silence(200))
    await settle(client)
    t.equal(sink.samplesCount, 32_000)
    await clock.advance(20)
    client.sendBytes(silence(20))
    await settle(client)
    t.equal(sink.samplesCount, 32_320)
    client.sendBytes(silence(1))
    t.same(await fatal(client), { code: 'RATE_LIMITED', fatal: true, closed: 1013 })
    t.equal(sink.samplesCount, 32_320)
  })

  t.test('empty audio frames and frames of one sample count against the limit', async (t) => {
    for (const bytes of [0, 2]) {
      const { join, clock } = await serve(t)
      const { client } = await join()
      for (let i = 0; i < 2000; i++) client.sendBytes(Buffer.alloc(bytes))
      await settle(client)
      await clock.advance(1)
      for (let i = 0; i < 2; i++) client.sendBytes(Buffer.alloc(bytes))
      t.same(await fatal(client), { code: 'RATE_LIMITED', fatal: true, closed: 1013 })
    }
  })

  t.test('after a connection has stalled for 5 s, its delayed audio is accepted at once', async (t) => {
    const { join, clock } = await serve(t)
    const { client, sink } = await join()
    await clock.advance(5000)
    for (let i = 0; i < 35; i++) client.sendBytes(silence(200))
    await settle(client)
    t.equal(sink.samplesCount, 7 * 16_000)
    client.sendBytes(silence(1))
    t.same(await fatal(client), { code: 'RATE_LIMITED', fatal: true, closed: 1013 })
  })

  t.test('BACKPRESSURE: a client that leaves 1 MiB unread is disconnected', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.socket.pause()
    const frame = new Int16Array(960)
    for (let i = 0; i < 20_000 && !sink.calls.some(([name]) => name === 'gone'); i++) {
      sink.transport.frame(frame)
      if (i % 100 === 0) await sleep(1)
    }
    t.same(sink.calls, [['gone']])
    client.socket.resume()
    t.same(await fatal(client), { code: 'BACKPRESSURE', fatal: true, closed: 1008 })
  })

  t.test('a client that does not read for a while gets all frames later', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.socket.pause()
    const frame = new Int16Array(960)
    for (let i = 0; i < 400; i++) sink.transport.frame(frame)
    sink.transport.mark('a:100')
    await sleep(100)
    const bytes = () => client.received.reduce((sum, { audio }) => sum + (audio?.length ?? 0), 0)
    t.ok(bytes() < 400 * frame.byteLength, 'the client has not read all frames yet')
    client.socket.resume()
    await client.take('mark')
    t.equal(bytes(), 400 * frame.byteLength)
    t.same(sink.calls, [])
  })

  t.test('a frame of more than 256 KiB closes the connection', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.sendBytes(new Uint8Array(262_145))
    t.equal(await client.closed, 1006)
    await until('the call', () => sink.calls.length === 1)
    t.same(sink.calls, [['gone']])
  })

  t.test('the ready frame waits for the overrides, and the session gets the allowed overrides', async (t) => {
    const { open, sessions } = await serve(t)
    sessions.seat = { clientOverrides: all }
    const client = await open()
    client.send({ type: 'overrides', overrides })
    await client.take('ready')
    t.same(sessions.overrides, [flat])
    t.same(client.frames('error'), [])
    client.send({ type: 'overrides', overrides: {} })
    t.match(await client.take('error'), { code: 'OVERRIDES_TOO_LATE', fatal: false })
    await settle(client)
  })

  t.test('overrides that the agent does not allow are ignored and listed in an error', async (t) => {
    for (const [allowed, taken, refused] of [
      [['language', 'speed'], { language: 'de', speed: 0.5 }, /prompt, firstMessage, voiceId/],
      [[], {}, /prompt, firstMessage, language, voiceId, speed/],
    ] as const) {
      const { open, sessions } = await serve(t)
      sessions.seat = { clientOverrides: allowed }
      const client = await open()
      client.send({ type: 'overrides', overrides })
      const ready = client.take('ready')
      await ready
      await settle(client)
      t.match(client.frames('error'), [{ code: 'OVERRIDE_NOT_ALLOWED', fatal: false, message: refused }])
      t.same(sessions.overrides, [taken])
    }
  })

  t.test('overrides that no provider supports are ignored and listed, and the session goes on', async (t) => {
    const { open, sessions } = await serve(t)
    sessions.seat = { clientOverrides: all }
    sessions.unserved = ['language', 'voiceId']
    const client = await open()
    client.send({ type: 'overrides', overrides })
    await client.take('ready')
    t.match(client.frames('error'), [{ code: 'OVERRIDE_NOT_ALLOWED', fatal: false, message: /language, voiceId\.$/ }])
  })

  t.test('if no overrides arrive, `ready` is sent 500 ms after the socket opens', async (t) => {
    const { open, sessions, clock } = await serve(t)
    sessions.seat = { clientOverrides: all }
    const client = await open()
    await sleep(50)
    await clock.advance(499)
    await sleep(50)
    t.equal(client.received.length, 0)
    // Deadlines are noticed up to two ticks of 100 ms late.
    for (let i = 0; i < 3; i++) await clock.advance(100)
    await client.take('ready')
    client.send({ type: 'overrides', overrides })
    t.match(await client.take('error'), { code: 'OVERRIDES_TOO_LATE', fatal: false })
    t.same(sessions.overrides, [{}])
  })

  t.test('a first frame of another kind ends the wait for overrides; before `ready` only text is kept', async (t) => {
    const { open, sessions } = await serve(t)
    sessions.seat = { clientOverrides: all }
    let release = () => {}
    sessions.gate = new Promise((resolve) => {
      release = resolve
    })
    const client = await open()
    client.sendBytes(silence(20))
    client.send({ type: 'user_message', text: 'early' })
    client.send({ type: 'overrides', overrides })
    t.match(await client.take('error'), { code: 'OVERRIDES_TOO_LATE' })
    client.sendBytes(silence(20))
    await settle(client)
    t.same(client.frames('ready'), [])
    release()
    await client.take('ready')
    t.same(await client.take('user_message_echo'), { type: 'user_message_echo', text: 'early' })
    t.equal(sessions.sink?.samplesCount, 0)
    client.sendBytes(silence(20))
    await settle(client)
    t.equal(sessions.sink?.samplesCount, 320)
  })

  t.test('each override accepts its limit, and refuses a value beyond it', async (t) => {
    const cases: [object, string, number | null][] = [
      [{ agent: { prompt: 'x'.repeat(65_537) } }, 'TEXT_TOO_LONG', null],
      [{ agent: { firstMessage: 'x'.repeat(2001) } }, 'TEXT_TOO_LONG', null],
      [{ agent: { prompt: '' } }, 'INVALID_FRAME', 1008],
      [{ agent: { language: 'not a tag' } }, 'INVALID_FRAME', 1008],
      [{ tts: { speed: 0.49 } }, 'INVALID_FRAME', 1008],
      [{ tts: { speed: 2.01 } }, 'INVALID_FRAME', 1008],
      [{ tts: { voiceId: 'x'.repeat(257) } }, 'INVALID_FRAME', 1008],
      [{ tools: [] }, 'INVALID_FRAME', 1008],
    ]
    for (const [wrong, code, closeCode] of cases) {
      const { open, sessions } = await serve(t)
      sessions.seat = { clientOverrides: all }
      const client = await open()
      client.send({ type: 'overrides', overrides: wrong })
      const frame = await client.take('error')
      t.match(frame, { code, fatal: closeCode !== null })
      if (closeCode !== null) t.equal(await client.closed, closeCode)
      else await client.take('ready')
      t.same(sessions.overrides, closeCode === null ? [{}] : [], 'a socket that never joined begins nothing')
    }
    const { open, sessions } = await serve(t)
    sessions.seat = { clientOverrides: all }
    const client = await open()
    client.send({
      type: 'overrides',
      overrides: { agent: { prompt: 'x'.repeat(65_536), firstMessage: 'x'.repeat(2000) }, tts: { speed: 2 } },
    })
    await client.take('ready')
    t.match(sessions.overrides, [{ prompt: /^x{65536}$/, firstMessage: /^x{2000}$/, speed: 2 }])
  })
})
