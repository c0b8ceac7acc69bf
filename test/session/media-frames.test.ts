/** Tests each frame of the media channel `sessionMedia` in the contract, in both directions. */
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { fatal, serve, sessionId, settle, silence } from './media-harness.ts'

overEngines(t, (t) => {
  t.test('the ready frame has all its fields, and without overrides is sent at once', async (t) => {
    const { open } = await serve(t)
    const client = await open()
    t.equal(client.socket.protocol, 'service.session.v1')
    t.same(await client.take('ready'), {
      type: 'ready',
      sessionId,
      identity: 'user_1',
      sampleRate: 16_000,
      encoding: 'pcm_s16le',
      frameMs: 20,
      resumed: false,
      recording: true,
      maxDurationSeconds: 3600,
      agentName: 'Front desk',
    })
  })

  t.test("the session receives each sample of the client's audio unchanged", async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    const received: number[] = []
    sink.onAudio = (samples) => received.push(...samples)
    const sent = Int16Array.from({ length: 480 }, (_, i) => i * 68 - 16_000)
    for (const [from, to] of [
      [0, 1],
      [1, 320],
      [320, 480],
    ] as const)
      client.sendBytes(new Uint8Array(sent.buffer, from * 2, (to - from) * 2))
    await settle(client)
    t.same(received, [...sent])
  })

  t.test("the client receives the agent's audio unchanged, between its marks", async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    const samples = Int16Array.from({ length: 320 }, (_, i) => 100 * i - 16_000)
    sink.transport.frame(samples)
    sink.transport.mark('turn:20')
    // The code that calls `frame` may overwrite the samples as soon as `frame` has returned, so the channel must copy
    // them.
    const before = samples.slice()
    samples.fill(7)
    sink.transport.frame(samples)
    sink.transport.clear()
    await client.take('clear')
    const order = client.received.map(({ frame, audio }) => frame?.type ?? audio?.length)
    t.same(order.slice(-4), [640, 'mark', 640, 'clear'])
    t.same(client.frames('mark'), [{ type: 'mark', name: 'turn:20' }])
    t.ok(client.audio().equals(Buffer.concat([Buffer.from(before.buffer), Buffer.from(samples.buffer)])))
  })

  t.test('each session event is sent as a frame with the matching type', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    const { transport } = sink
    transport.notify({ type: 'state', state: 'thinking' })
    transport.notify({ type: 'transcript', id: 'a', text: 'hello', isFinal: false })
    transport.notify({ type: 'agentMessage', id: 'b', text: 'Good day', isFinal: false, interrupted: false })
    transport.notify({ type: 'agentMessage', id: 'b', text: 'Good', isFinal: true, interrupted: true })
    transport.notify({ type: 'toolCall', id: 'c', name: 'order_status', status: 'started' })
    transport.notify({ type: 'toolRequested', id: 'd', name: 'show_map', args: '{"city":"Berlin"}' })
    await settle(client)
    t.same(client.received.map(({ frame }) => frame).slice(1, -1), [
      { type: 'state', value: 'thinking' },
      { type: 'transcript', id: 'a', source: 'user', text: 'hello', isFinal: false },
      { type: 'agent_message', id: 'b', text: 'Good day', isFinal: false },
      { type: 'agent_message', id: 'b', text: 'Good', isFinal: true, interrupted: true },
      { type: 'tool_call', id: 'c', name: 'order_status', status: 'started' },
      { type: 'tool_call', id: 'd', name: 'show_map', status: 'requested', args: '{"city":"Berlin"}' },
    ])
  })

  t.test('typed turns are echoed to the client, and notes, keys and tool results reach the session', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.send({ type: 'user_message', text: 'ü'.repeat(4096) })
    t.same(await client.take('user_message_echo'), { type: 'user_message_echo', text: 'ü'.repeat(4096) })
    client.send({ type: 'contextual_update', text: '🙂'.repeat(8192) })
    client.send({ type: 'dtmf', digits: '0123456789*#ABCD0123456789*#ABCD' })
    client.send({ type: 'tool_result', id: 'call_1', result: 'x'.repeat(16_384) })
    client.send({ type: 'tool_result', id: 'call_1', result: '', isError: true })
    await settle(client)
    t.same(sink.calls, [
      ['userMessage', 'ü'.repeat(4096)],
      ['contextualUpdate', '🙂'.repeat(8192)],
      ['dtmf', '0123456789*#ABCD0123456789*#ABCD'],
      ['toolResult', 'call_1', 'x'.repeat(16_384), false],
      ['toolResult', 'call_1', '', true],
    ])
    t.same(client.frames('error'), [])
  })

  t.test('a text that is too long is refused, and the session goes on', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.send({ type: 'user_message', text: '🙂'.repeat(4097) })
    client.send({ type: 'contextual_update', text: 'x'.repeat(8193) })
    client.send({ type: 'tool_result', id: 'call_1', result: 'x'.repeat(16_385) })
    await settle(client)
    t.same(sink.calls, [])
    t.match(
      client.frames('error'),
      Array(3).fill({ code: 'TEXT_TOO_LONG', fatal: false, retryable: false, requestId: String }),
    )
  })

  t.test('a result for an unknown tool call is answered UNKNOWN_TOOL_CALL, and the session goes on', async (t) => {
    const { join } = await serve(t)
    const { client } = await join()
    client.send({ type: 'tool_result', id: 'call_9', result: 'x' })
    t.match(await client.take('error'), { code: 'UNKNOWN_TOOL_CALL', fatal: false })
    await settle(client)
  })

  t.test('INVALID_FRAME: a wrong frame is refused', async (t) => {
    const wrong: [string, object | string | Uint8Array][] = [
      ['no JSON', '{'],
      ['no type', {}],
      ['an unknown type', { type: 'config' }],
      ['a frame of the server', { type: 'ready' }],
      ['an unknown field', { type: 'user_message', text: 'a', more: 1 }],
      ['an empty text', { type: 'user_message', text: '' }],
      ['an empty note', { type: 'contextual_update', text: '' }],
      ['a key that no telephone has', { type: 'dtmf', digits: 'E' }],
      ['no keys', { type: 'dtmf', digits: '' }],
      ['33 keys', { type: 'dtmf', digits: '1'.repeat(33) }],
      ['a mark of the wrong type', { type: 'played', mark: 1 }],
      ['a negative time', { type: 'played', mark: null, playedMs: -1, cleared: true }],
      ['an id of a tool call that is too long', { type: 'tool_result', id: 'x'.repeat(257), result: '' }],
      ['an odd number of bytes', new Uint8Array(641)],
      ['more than 200 ms of audio', silence(200.0625)],
    ]
    for (const [title, frame] of wrong) {
      const { join } = await serve(t)
      const { client, sink } = await join()
      if (frame instanceof Uint8Array) client.sendBytes(frame)
      else client.send(frame)
      t.same(await fatal(client), { code: 'INVALID_FRAME', fatal: true, closed: 1008 }, title)
      t.same(sink.calls, [['gone']], 'the session waits for another socket')
      t.equal(sink.samplesCount, 0)
    }
  })

  t.test('200 ms of audio in one frame are accepted', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.sendBytes(silence(200))
    await settle(client)
    t.equal(sink.samplesCount, 3200)
  })

  t.test('if the user hangs up, the end frame is the last frame, and the socket closes with 1000', async (t) => {
    const { join } = await serve(t)
    const { client, sink } = await join()
    client.send({ type: 'end' })
    t.same(await client.take('end'), { type: 'end', reason: 'user_hangup' })
    t.equal(await client.closed, 1000)
    t.same(sink.calls, [['hangUp']], 'the socket is not reported as lost')
  })

  t.test('a session that ends with a fault sends the error, then end, and closes with its code', async (t) => {
    const faults = [
      ['upstream', 'UPSTREAM', 1011, 'pipeline_failed'],
      ['internal', 'INTERNAL', 1011, 'pipeline_failed'],
      ['budget_exhausted', 'BUDGET_EXHAUSTED', 1008, 'credit_exhausted'],
      ['shutting_down', 'SHUTTING_DOWN', 1012, 'server_shutdown'],
    ] as const
    for (const [fault, code, closeCode, reason] of faults) {
      const { join } = await serve(t)
      const { client, sink } = await join()
      sink.transport.close(reason, fault)
      // A conversation may still send frames after its end, and they are dropped.
      sink.transport.frame(new Int16Array(320))
      sink.transport.notify({ type: 'state', state: 'listening' })
      sink.transport.close(reason, null)
      t.same(await fatal(client), { code, fatal: true, closed: closeCode })
      t.same(client.received.at(-1)?.frame, { type: 'end', reason })
      t.same(sink.calls, [])
    }
  })
})
