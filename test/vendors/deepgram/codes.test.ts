/** The meaning of Deepgram's codes in a body, in a frame and in a close, its models, and the key of a request. */
import t from 'tap'
import type { ErrorClass } from '../../../domain/ports/provider-error.ts'
import { deepgramModels } from '../../../providers/deepgram/models.ts'
import { never, present, providerErrorOf, until } from '../suite/given.ts'
import { rawRecording, recordingPcm } from '../suite/stt.ts'
import { isOver } from '../suite/stt-live.ts'
import { sendJson } from '../suite/stub-server.ts'
import { readSpeech, speechFormat } from '../suite/tts.ts'
import { openDeepgram } from './setup.ts'

const { adapter, listenTo, live, provider, stt, stub } = await openDeepgram(t)

t.test("Deepgram's error codes decide the error class in every form of the body", async (t) => {
  const rows: [status: number, body: unknown, expected: ErrorClass][] = [
    [401, { err_code: 'INSUFFICIENT_PERMISSIONS' }, 'auth'],
    [403, { err_code: 'INSUFFICIENT_PERMISSIONS' }, 'auth'],
    [400, { err_code: 'ASR_PAYMENT_REQUIRED' }, 'quota'],
    [402, {}, 'quota'],
    [413, { err_code: 'Payload Too Large' }, 'unsupported'],
    [413, { err_code: 'PAYLOAD_TOO_LARGE' }, 'unsupported'],
    [400, { err_code: 'Bad Request', err_msg: 'too many requests, invalid auth' }, 'bad_request'],
    [400, { category: 'INVALID_JSON', message: 'x', details: 'y' }, 'bad_request'],
    [400, { category: 'TOO_MANY_REQUESTS' }, 'rate_limited'],
    [404, 'UUID parsing failed', 'bad_request'],
    [503, 'out of order', 'overloaded'],
    [504, {}, 'timeout'],
  ]
  for (const [status, body, expected] of rows) {
    stub.play((response) => sendJson(response, body, { status }))
    const error = await providerErrorOf(
      stt.transcribe({ model: 'nova-3', recording: rawRecording(recordingPcm), options: {} }, never),
    )
    t.equal(error.errorClass, expected, `${status} ${JSON.stringify(body)}`)
  }
})

t.test('each close code of Deepgram has its error class', async (t) => {
  const rows: [code: number, reason: string, expected: ErrorClass][] = [
    [1008, 'DATA-0000', 'bad_request'],
    [1008, 'DATA-0001', 'rate_limited'],
    [1009, 'BIG-0001', 'unsupported'],
    [1011, 'NET-0000', 'server'],
    [1011, 'NET-0001', 'timeout'],
    [1011, 'Nothing came within the window. See https://dpgr.am/net0001', 'timeout'],
    [1011, 'NET-0003', 'timeout'],
    [1011, '', 'server'],
    [1013, '', 'overloaded'],
    [1000, '', 'protocol'],
    [4321, 'NET-9999', 'protocol'],
  ]
  for (const [code, reason, expected] of rows) {
    stub.playSocket((socket) => socket.close(code, reason))
    const failure = await providerErrorOf(
      readSpeech(live({ model: 'aura-2', text: 'Hello', outputFormat: speechFormat }, never)),
    )
    t.equal(failure.errorClass, expected, `speak ${code} ${reason}`)
    for (const model of ['nova-3', 'flux-general-en']) {
      const listening = await listenTo({ model })
      await until(() => isOver(listening), 'no event came')
      t.match(
        listening.events.at(-1),
        { type: 'failed', error: { errorClass: expected } },
        `${model} ${code} ${reason}`,
      )
    }
  }
  const frames: [frame: object, expected: ErrorClass][] = [
    [{ type: 'Error', code: 'INTERNAL_SERVER_ERROR', description: 'x' }, 'server'],
    [{ type: 'Error', code: 'NET-0001', description: 'x' }, 'timeout'],
    [{ type: 'Error', description: 'x' }, 'server'],
  ]
  for (const [frame, expected] of frames) {
    stub.playSocket((socket) => socket.send(frame))
    const listening = await listenTo({ model: 'flux-general-en' })
    await until(() => isOver(listening), 'no event came')
    t.match(listening.events.at(-1), { type: 'failed', error: { errorClass: expected } })
  }
  stub.playSocket((socket) => socket.send({ type: 'Results', channel: { alternatives: [{}] } }))
  const listening = await listenTo()
  await until(() => isOver(listening), 'no event came')
  t.match(listening.events.at(-1), { type: 'failed', error: { errorClass: 'protocol' } })
})

t.test('the catalog rows of Deepgram have valid voices and languages', (t) => {
  const voices = deepgramModels.flatMap((model) => model.voices)
  t.equal(new Set(voices.map(({ id }) => id)).size, voices.length)
  t.ok(voices.every(({ id, language }) => id === `aura-2-${id.split('-')[2]}-${language}`))
  t.equal(voices[0]?.id, 'aura-2-thalia-en', 'the first is the default')
  t.notOk(
    voices.some(({ id }) => id === 'aura-2-perseo-it'),
    'never served',
  )
  t.same(
    adapter({ models: ['nova-2'] }).models.map(({ id, provider }) => `${provider}/${id}`),
    ['deepgram/nova-2'],
  )
  t.throws(() => adapter({ models: ['whisper'] }), RangeError)
  t.throws(() => adapter({ baseUrl: 'nowhere' }), TypeError)
  t.end()
})

t.test("an organization's provider key authenticates its Deepgram requests", async (t) => {
  const keyed = present(await provider.forKey?.('another-key'), 'ports')
  await present(keyed.speech?.stt, 'stt').transcribe(
    { model: 'nova-3', recording: rawRecording(recordingPcm), options: {} },
    never,
  )
  await readSpeech(
    present(keyed.speech?.tts?.live?.bind(keyed.speech?.tts), 'live')(
      { model: 'aura-2', text: 'Hi', outputFormat: speechFormat },
      never,
    ),
  )
  t.same(
    stub.seen.map(({ headers }) => headers['authorization']),
    ['Token another-key', 'Token another-key'],
  )
})
