import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { overEngines } from '../engine/engines.ts'
import { serverWith } from '../server.ts'
import {
  type Answer,
  ask,
  form,
  postForm,
  postJson,
  responses,
  send,
  speech,
  transcribe,
  transcriptionParts,
  transcriptions,
} from './requests.ts'

overEngines(t, async (t) => {
  const parley = await serverWith()

  const silence = wav(Buffer.alloc(16000))
  const spoken = { input: 'Hello.' }

  /** Asserts that the error is complete with the right code and param, and that the next request is served. */
  function refused(t: Test, answer: Answer, status: number, code: string, param?: string) {
    const { error } = answer.json()
    t.equal(answer.status, status, `${code}: status`)
    t.equal(error.code, code)
    if (param !== undefined) t.equal(error.param, param)
    t.equal(
      error.request_id,
      answer.headers.get('service-request-id'),
      'the request id stands in the envelope and in the header',
    )
    t.ok(error.message && error.hint.length <= 512 && typeof error.retryable === 'boolean')
    t.equal(answer.headers.get('service-region'), 'local')
  }

  t.test('malformed multipart bodies are refused', async (t) => {
    const [request, audio] = transcriptionParts({}, silence) as [never, never]
    refused(t, await postForm(parley, transcriptions, [audio, request]), 400, 'invalid_parameter', 'request')
    refused(t, await postForm(parley, transcriptions, [request]), 400, 'invalid_parameter', 'audio')
    refused(t, await postForm(parley, transcriptions, [request, audio, audio]), 400, 'invalid_parameter', 'audio')
    refused(
      t,
      await postForm(parley, transcriptions, transcriptionParts('{"language":', silence)),
      400,
      'invalid_request',
    )
    refused(t, await transcribe(parley, silence, { langauge: 'en' }), 400, 'invalid_parameter', '/langauge')
    const { body, type } = form(transcriptionParts({}, silence))
    const cut = {
      method: 'POST',
      body: body.subarray(0, body.length - 60),
      headers: { 'content-type': type, 'idempotency-key': randomUUID() },
    }
    refused(t, await send(parley, transcriptions, cut), 400, 'invalid_request')
  })

  t.test('names that every JavaScript object inherits are refused as parts and as fields', async (t) => {
    const good = transcriptionParts({}, silence)
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      const part = { name, type: 'text/plain', data: 'x' }
      refused(t, await postForm(parley, transcriptions, [...good, part]), 400, 'invalid_parameter', name)
      refused(t, await postJson(parley, speech, `{"input":"Hi","${name}":1}`), 400, 'invalid_parameter', `/${name}`)
      const native = await postForm(parley, '/v1/audio/transcriptions', [
        ...good.slice(1),
        { name: 'model', type: 'text/plain', data: name },
      ])
      t.ok(native.status >= 400 && native.status < 500, `a model named ${name}: ${native.status}`)
    }
  })

  t.test('invalid audio is refused with the name of its field', async (t) => {
    refused(t, await transcribe(parley, silence.subarray(0, 9000)), 400, 'invalid_parameter', 'audio')
    refused(t, await transcribe(parley, Buffer.alloc(0)), 400, 'invalid_parameter', 'audio')
    const known = /WAV, FLAC, Ogg\/Opus, WebM\/Opus and MP3 are read/
    for (const unread of [Buffer.from('this is no audio at all'), Buffer.from('\0\0\0\x20ftypM4A mp42isom')]) {
      const answer = await transcribe(parley, unread)
      refused(t, answer, 415, 'unsupported_media', 'audio')
      t.match(answer.json().error.message, known, 'the formats that are read are named')
    }
    refused(t, await transcribe(parley, Buffer.alloc(101 * 1024 * 1024)), 413, 'payload_too_large')
    const long = wav(Buffer.alloc(241 * 60 * 4000))
    long.writeUInt32LE(4000, 24)
    long.writeUInt32LE(4000, 28)
    long.writeUInt16LE(1, 32)
    long.writeUInt16LE(8, 34)
    const answer = await transcribe(parley, long)
    refused(t, answer, 413, 'payload_too_large', 'audio')
    t.match(answer.json().error.message, /241 minutes; at most 240/)
  })

  t.test('invalid function calls are refused with the name of their field', async (t) => {
    const user = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Is there a table?' }] }
    const call = (args: string) => ({ type: 'function_call', call_id: 'call_1', name: 'find_table', arguments: args })
    const result = { type: 'function_result', call_id: 'call_1' }
    const history = (args: string) => ask('', { input: [user, call(args), result] })
    for (const text of ['', '{"seats":', 'four', '{}{}', '['.repeat(1_000_000)])
      refused(t, await postJson(parley, responses, history(text)), 400, 'invalid_parameter', '/input/1/arguments')
    t.equal((await postJson(parley, responses, history('{"seats":4}'))).status, 200, 'a result may be left out')
    const twice = ask('hi', { tools: [{ name: 'one' }, { name: 'two' }, { name: 'one' }] })
    refused(t, await postJson(parley, responses, twice), 400, 'invalid_parameter', '/tools/2/name')
  })

  t.test('invalid idempotency keys are refused', async (t) => {
    const missing = await send(parley, responses, {
      method: 'POST',
      body: JSON.stringify(ask('hi')),
      headers: { 'content-type': 'application/json' },
    })
    refused(t, missing, 400, 'invalid_parameter', 'Idempotency-Key')
    refused(
      t,
      await postJson(parley, responses, ask('hi'), { 'idempotency-key': 'k'.repeat(257) }),
      400,
      'invalid_parameter',
      'Idempotency-Key',
    )
    // The limit counts UTF-8 bytes: these keys have 129 code points, but 257 or 256 bytes. The ends are ASCII, because
    // the HTTP engine trims other bytes.
    const multiByte = (end: string) => Buffer.from(`k${'é'.repeat(127)}${end}`).toString('latin1')
    const long = await postJson(parley, responses, ask('hi'), { 'idempotency-key': multiByte('kk') })
    refused(t, long, 400, 'invalid_parameter', 'Idempotency-Key')
    const whole = await postJson(parley, responses, ask('hi'), { 'idempotency-key': multiByte('k') })
    t.equal(whole.status, 200, '256 bytes are taken')
  })

  t.test('each POST needs an idempotency key, and an empty key is refused', async (t) => {
    const { body, type } = form(transcriptionParts({}, silence))
    const json = 'application/json'
    for (const [path, sent, contentType] of [
      [transcriptions, body, type],
      [speech, JSON.stringify(spoken), json],
      [responses, JSON.stringify(ask('hi')), json],
    ] as const)
      for (const key of [{}, { 'idempotency-key': '' }]) {
        const headers = { 'content-type': contentType, ...key }
        const answer = await send(parley, path, { method: 'POST', body: sent, headers })
        refused(t, answer, 400, 'invalid_parameter', 'Idempotency-Key')
      }
  })

  t.test('invalid routing options are refused', async (t) => {
    const routed = (routing: unknown) => postJson(parley, speech, { ...spoken, routing })
    refused(t, await routed({ mode: 'best' }), 400, 'invalid_parameter', '/routing/mode')
    refused(t, await routed({}), 400, 'invalid_parameter', '/routing/mode')
    refused(t, await routed(null), 400, 'invalid_parameter', '/routing')
    refused(t, await routed({ mode: 'auto', objective: 'fastest' }), 400, 'invalid_parameter', '/routing/objective')
    refused(t, await routed({ mode: 'auto', model: 'flite' }), 400, 'invalid_parameter', '/routing/model')
    refused(
      t,
      await routed({ mode: 'auto', allow_providers: [' '] }),
      400,
      'invalid_parameter',
      '/routing/allow_providers/0',
    )
    refused(
      t,
      await routed({ mode: 'explicit', provider: 'local', model: 'flite', objective: 'cost' }),
      400,
      'invalid_parameter',
      '/routing/objective',
    )
    refused(
      t,
      await routed({ mode: 'explicit', provider: 'local', model: 'flite', allow_providers: [] }),
      400,
      'invalid_parameter',
      '/routing/allow_providers',
    )
    refused(t, await routed({ mode: 'explicit', model: 'flite' }), 400, 'invalid_parameter', '/routing/model')
    refused(t, await routed({ mode: 'explicit', model: 'nobody/nothing' }), 400, 'invalid_parameter', '/routing/model')
    for (const routing of [
      { mode: 'auto', provider: '', model: '', allow_providers: [] },
      { mode: 'explicit', model: 'local/flite' },
      { mode: 'explicit', provider: 'local', model: 'local/flite' },
    ])
      t.equal((await routed(routing)).status, 200, JSON.stringify(routing))
  })

  t.test('a request that no model can serve is refused, and is never changed to fit a model', async (t) => {
    refused(t, await postJson(parley, speech, { ...spoken, language: 'ja' }), 400, 'capability_unsupported')
    refused(t, await postJson(parley, speech, { ...spoken, voice: 'nobody' }), 400, 'capability_unsupported')
    refused(t, await transcribe(parley, silence, { options: { diarization: true } }), 400, 'capability_unsupported')
    refused(
      t,
      await postJson(parley, responses, ask('hi', { previous_response_id: 'resp_1' })),
      400,
      'invalid_parameter',
      '/previous_response_id',
    )
    refused(
      t,
      await transcribe(parley, silence, { options: { provider_options: { local: { beam: 5 } } } }),
      400,
      'invalid_parameter',
    )
  })

  t.test('the error for an unsupported request names an alternative for the client', async (t) => {
    const history = await postJson(parley, responses, ask('hi', { previous_response_id: 'resp_1' }))
    t.match(history.json().error.hint, /resend the whole history/)
    const tools = [{ name: 'lookup' }]
    for (const more of [{ tool_choice: 'required' }, { tools, tool_choice: { type: 'function', name: 'other' } }])
      refused(t, await postJson(parley, responses, ask('hi', more)), 400, 'invalid_parameter', '/tool_choice')
    const emoji = await postJson(parley, speech, { input: '😀' })
    refused(t, emoji, 400, 'capability_unsupported')
    t.equal(emoji.json().error.retryable, false)
    const packed = await postJson(parley, responses, ask('hi'), { 'content-encoding': 'gzip' })
    refused(t, packed, 415, 'unsupported_media', 'Content-Encoding')
  })

  t.test('invalid requests are refused', async (t) => {
    refused(t, await postJson(parley, responses, '{"input": ['), 400, 'invalid_request')
    refused(t, await postJson(parley, responses, ''), 400, 'invalid_request')
    refused(t, await postJson(parley, responses, ask('hi'), { 'content-type': 'text/plain' }), 415, 'unsupported_media')
    refused(
      t,
      await postJson(parley, responses, { ...ask('hi'), max_output_tokens: undefined }),
      400,
      'invalid_parameter',
      '/max_output_tokens',
    )
    refused(t, await send(parley, '/router/v1/nothing'), 404, 'not_found')
    const wrongMethod = await send(parley, responses, { method: 'DELETE' })
    refused(t, wrongMethod, 405, 'method_not_allowed')
    t.match(wrongMethod.json().error.message, /^This path takes [A-Z, ]+$/)
    t.match(wrongMethod.headers.get('allow'), /POST/)
    refused(t, await send(parley, `/router/v1/models?language=${'x'.repeat(33)}`), 400, 'invalid_parameter', 'language')
    const longest = 'en-Latn-US-abcdefgh-bcdefg-cdefg'
    t.equal((await send(parley, `/router/v1/models?language=${longest}`)).status, 200, '32 characters are taken')
    refused(t, await send(parley, '/router/v1/models?objective=fastest'), 400, 'invalid_parameter', 'objective')
    const nobody = { url: parley.url, key: 'sk_live_nobodynobodynobodynobodynobody' }
    const unknown = await send(nobody, '/router/v1/models')
    refused(t, unknown, 401, 'authentication_failed')
    t.equal(unknown.headers.get('www-authenticate'), 'Bearer')
  })

  t.test('after all invalid input the server still serves', async (t) => {
    t.equal((await postJson(parley, responses, ask('hello'))).status, 200)
  })
})

function wav(samples: Buffer): Buffer {
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples.length, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8000, 24)
  head.writeUInt32LE(16000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}
