/**
 * Recordings are sent as real programs send them: to the embedded recognizer, and to a provider that accepts more
 * formats than this server decodes.
 */
import t from 'tap'
import { bytes, fmt, riff } from '../audio/build.ts'
import { box, ftyp, mdat, trak } from '../audio/mp4.ts'
import { startStubOpenAi, transcriptOf } from '../providers/stub-openai.ts'
import {
  type Answer,
  type FormPart,
  form,
  postForm,
  send,
  transcriptionParts,
  transcriptions,
} from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { readFixture } from '../speech/fixtures.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())
const models = { stt: ['whisper'] }
const parley = await ownServer(t, {
  PARLEY_PROVIDERS: JSON.stringify([{ id: 'stub', adapter: 'openai', apiKey: 'k', baseUrl: `${stub.url}/v1`, models }]),
})

const embedded = 'local:moonshine-tiny-en'
const m4a = bytes(ftyp, mdat, box('moov', trak({ rateHz: 44_100, channels: 1, duration: 88_200 })))

function upload(
  model: string,
  file: Uint8Array,
  fields: readonly FormPart[] = [],
  more: Record<string, string> = {},
): Promise<Answer> {
  const { body, type } = form([
    { name: 'model', type: 'text/plain', data: model },
    ...fields,
    { name: 'file', filename: 'memo.m4a', type: 'audio/mp4', data: file },
  ])
  const headers = { 'content-type': type, ...more }
  return send(parley, '/v1/audio/transcriptions', { method: 'POST', body: new Uint8Array(body), headers })
}

t.test('m4a is passed on unchanged to a provider that accepts it', async (t) => {
  for (const model of ['stub:whisper', 'auto']) {
    const answer = await upload(model, m4a)
    t.equal(answer.status, 200, answer.text)
    t.match(answer.json(), { text: transcriptOf(m4a) }, model)
    const file = stub.requests.at(-1)?.parts.find(({ name }) => name === 'file')
    t.match(file, { filename: 'audio.m4a', type: 'audio/mp4' })
  }
  const native = { method: 'POST', headers: { 'content-type': 'audio/mp4', accept: 'application/json' }, body: m4a }
  const taken = await send(parley, '/v1/transcribe', native)
  t.match(taken.json(), { text: transcriptOf(m4a) })
  const pin = { mode: 'explicit', provider: 'stub', model: 'whisper' }
  const routed = await postForm(parley, transcriptions, transcriptionParts({ routing: pin }, Buffer.from(m4a)))
  t.match(routed.json(), { text: transcriptOf(m4a), usage: { duration_ms: 2000 } })
})

t.test('MP4 files written by several programs are passed on unchanged', async (t) => {
  const head = box('moov', trak({ rateHz: 44_100, channels: 1, duration: 88_200 }))
  const files = {
    'the head behind the samples': bytes(ftyp, mdat, head),
    'QuickTime without a type': bytes(box('wide'), mdat, head),
    'free space in front': bytes(box('free', new Uint8Array(8)), ftyp, head, mdat),
  }
  for (const [name, file] of Object.entries(files)) {
    t.match((await upload('stub:whisper', file)).json(), { text: transcriptOf(file) }, name)
    const sent = stub.requests.at(-1)?.parts.find((part) => part.name === 'file')
    t.match(sent, { filename: 'audio.m4a', type: 'audio/mp4' }, name)
  }
})

t.test("the header's language wins over the form's language", async (t) => {
  const language = { name: 'language', type: 'text/plain', data: 'de' }
  const sent = () =>
    stub.requests
      .at(-1)
      ?.parts.find(({ name }) => name === 'language')
      ?.body.toString()
  t.equal((await upload('stub:whisper', m4a, [language])).status, 200)
  t.equal(sent(), 'de')
  t.equal((await upload('stub:whisper', m4a, [language], { 'x-service-language': 'fr' })).status, 200)
  t.equal(sent(), 'fr')
})

t.test('times of words are refused by name with the embedded recognizer, which has no such times', async (t) => {
  const fields = ['verbose_json', 'word'].map((data, at) => ({
    name: at === 0 ? 'response_format' : 'timestamp_granularities[]',
    type: 'text/plain',
    data,
  }))
  const wav = readFixture('privacy-prompt')
  const { status, text, json } = await upload(embedded, wav, fields)
  t.equal(status, 400, text)
  t.match(json().error, { code: 'capability_unsupported', param: 'timestamp_granularities[]' })
})

t.test('m4a is refused with 415 if no provider accepts it', async (t) => {
  const before = stub.requests.length
  const refused = await upload(embedded, m4a)
  t.equal(refused.status, 415)
  t.match(refused.json().error, { code: 'unsupported_media', param: 'file', message: /AAC \(an MP4 file\)/ })
  const pin = { mode: 'explicit', provider: 'local', model: 'moonshine-tiny-en' }
  const routed = await postForm(parley, transcriptions, transcriptionParts({ routing: pin }, Buffer.from(m4a)))
  t.match(routed.json().error, { code: 'unsupported_media', param: 'audio' })
  const options = { 'x-service-stt-options': JSON.stringify({ model: embedded }) }
  const native = { method: 'POST', headers: { 'content-type': 'audio/mp4', ...options }, body: m4a }
  t.match((await send(parley, '/v1/transcribe', native)).json().error, { code: 'unsupported_media', param: 'body' })
  t.equal(stub.requests.length, before, 'nobody was asked')
})

t.test('WAV and MP3 files with small faults are transcribed', async (t) => {
  const wav = readFixture('privacy-prompt')
  const samples = wav.subarray(44)
  const telephone = fmt(1, 1, 8000, 16)
  const floats = Float64Array.from(new Int16Array(samples.slice().buffer), (sample) => sample / 32_768)
  const mp3 = readFixture('privacy-prompt', 'mp3')
  const files = {
    'a size that counts the header': riff([
      ['fmt ', telephone],
      ['data', samples, samples.length + 44],
    ]),
    '64-bit floats': riff([
      ['fmt ', fmt(3, 1, 8000, 64)],
      ['data', new Uint8Array(floats.buffer)],
    ]),
    'zeros in front': bytes(new Uint8Array(1000), mp3),
  }
  const { text } = (await upload(embedded, wav)).json<{ text: string }>()
  t.match(text, /\w+ \w+/)
  for (const [name, file] of Object.entries(files)) {
    const answer = await upload(embedded, file)
    t.equal(answer.status, 200, answer.text)
    const transcript = answer.json<{ text: string }>().text
    if (name === 'zeros in front') t.match(transcript, /\w+ \w+/, name)
    else t.equal(transcript, text, name)
  }
})
