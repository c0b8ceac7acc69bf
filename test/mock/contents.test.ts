/** Event streams end with one terminal event, and audio has the bytes of the declared format. */
import t, { type Test } from 'tap'
import { readEvents } from '../router/requests.ts'
import { serve } from './setup.ts'

const { request } = await serve(t)

const json = { 'content-type': 'application/json' }
const chat = { model: 'auto', messages: [{ role: 'user', content: 'Good day.' }] }
const message = { type: 'message', role: 'user', content: [{ type: 'text', text: 'Good day.' }] }
const events = { accept: 'text/event-stream' }

/** Each stream: its request, and its terminal events. A stream without names ends with [DONE] or a type in its data. */
const streams: [path: string, body: object | string | null, terminal: RegExp, headers?: Record<string, string>][] = [
  [
    '/router/v1/llm/responses',
    { input: [message], max_output_tokens: 9, stream: true },
    /^(response\.completed|error)$/,
  ],
  ['/v1/chat/completions', { ...chat, stream: true }, /^\[DONE\]$/],
  ['/v1/responses', { model: 'auto', input: 'Good day.', stream: true }, /^response\.(completed|incomplete|failed)$/],
  ['/v1/audio/speech', { model: 'auto', input: 'Good day.', stream_format: 'sse' }, /^speech\.audio\.done$/],
  ['/v1/transcribe', 'RIFF', /^(done|error)$/, { ...events, 'content-type': 'audio/wav' }],
  ['/v1/complete', { prompt: 'Good day.' }, /^(done|error)$/, { ...json, ...events }],
  ['/v1/sessions/019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70/stream', null, /^(end|error)$/],
  ['/v1/webhook-events/stream', null, /^(end|error)$/],
]

for (const [path, body, terminal, headers = json] of streams)
  t.test(`the stream ${path} ends with its only terminal event`, async (t) => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await request(path, body === null ? {} : { method: 'POST', headers, body: sent })
    t.equal(answer.headers.get('content-type'), 'text/event-stream')
    t.equal(answer.headers.get('content-length'), null)
    const text = await answer.text()
    const kinds = text
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map(kindOf)
    t.ok(kinds.length > 1, kinds.join())
    t.same(
      kinds.flatMap((kind, index) => (terminal.test(kind) ? [index] : [])),
      [kinds.length - 1],
      kinds.join(),
    )
  })

t.test('a multipart request may ask for a stream too', async (t) => {
  const body = new FormData()
  for (const [name, value] of [
    ['model', 'auto'],
    ['stream', 'true'],
  ] as const)
    body.append(name, value)
  body.append('file', new Blob(['RIFF']))
  const text = await (await request('/v1/audio/transcriptions', { method: 'POST', body })).text()
  t.match(readEvents(text.replaceAll(/^data/gm, 'id: 0\nevent: x\ndata')).at(-1)?.data, {
    type: 'transcript.text.done',
  })
})

t.test('a stream fails if the Prefer header of its request asks for a failed stream', async (t) => {
  const body = JSON.stringify({ prompt: 'Good day.' })
  const headers = { ...json, ...events, prefer: 'example=failed' }
  const text = await (await request('/v1/complete', { method: 'POST', headers, body })).text()
  t.equal(kindOf(text.trimEnd().split('\n\n').at(-1)!), 'error')
})

t.test('speech is raw samples or a WAV file in the requested format', async (t) => {
  const speak = (body: object) => bytesOf('/v1/audio/speech', { model: 'auto', input: 'Good day.', ...body })
  const pcm = await speak({})
  t.same([pcm.type, pcm.bytes.length], ['audio/pcm;rate=24000', 48_000])
  t.ok(loudest(pcm.bytes) > 3000, 'it is no silence')
  isWav(t, await speak({ response_format: 'wav' }), 24_000)
  isWav(t, await bytesOf('/v1/synthesize', { text: 'Good day.', response_format: 'wav', sample_rate: 8000 }), 8000)
  const router = (audio: object) => bytesOf('/router/v1/tts/speech', { input: 'Good day.', audio })
  t.equal((await router({ encoding: 'mulaw', sample_rate_hz: 8000 })).bytes.length, 8000)
  t.equal((await router({ encoding: 'pcm_f32le' })).bytes.length, 96_000)
  t.equal((await router({ encoding: 'opus' })).status, 400)
  t.equal((await speak({ response_format: 'mp3' })).status, 400)
})

t.test('transcriptions come as JSON, text or subtitles', async (t) => {
  const typeOf = async (format: string) => {
    const body = new FormData()
    for (const [name, value] of [
      ['model', 'auto'],
      ['response_format', format],
    ] as const)
      body.append(name, value)
    body.append('file', new Blob(['RIFF']))
    const answer = await request('/v1/audio/transcriptions', { method: 'POST', body })
    return [answer.headers.get('content-type'), (await answer.text()).slice(0, 6)]
  }
  t.same(await typeOf('json'), ['application/json', '{"text'])
  t.same(await typeOf('vtt'), ['text/plain', 'WEBVTT'])
  t.same(await typeOf('srt'), ['text/plain', '1\n00:0'])
})

t.test('the mock server sends a recording as a WAV file, whole or in byte ranges', async (t) => {
  const path = '/v1/calls/019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70/recording/audio'
  const part = async (headers: Record<string, string>) => {
    const answer = await request(path, { headers })
    const { length } = Buffer.from(await answer.arrayBuffer())
    return [answer.status, answer.headers.get('content-range'), length]
  }
  const whole = await request(path)
  const bytes = Buffer.from(await whole.arrayBuffer())
  isWav(t, { status: 200, type: whole.headers.get('content-type'), bytes }, 16_000)
  t.same(await part({ range: 'bytes=0-9' }), [206, 'bytes 0-9/64044', 10])
  t.same(await part({ range: 'bytes=-44' }), [206, 'bytes 64000-64043/64044', 44])
  t.same(await part({ range: 'bytes=64000-' }), [206, 'bytes 64000-64043/64044', 44])
  t.same((await part({ range: 'bytes=70000-' })).slice(0, 2), [416, 'bytes */64044'])
  t.same(await part({ range: 'bytes=9-0' }), [200, null, 64_044], 'a wrong range is ignored')
  t.same(await part({ range: 'bytes=0-9', 'if-range': '"another"' }), [200, null, 64_044])
  t.same(await part({ prefer: 'code=206' }), [206, 'bytes 0-1023/64044', 1024])
})

type Received = { status: number; type: string | null; bytes: Buffer }

async function bytesOf(path: string, body: object): Promise<Received> {
  const answer = await request(path, { method: 'POST', headers: json, body: JSON.stringify(body) })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, type: answer.headers.get('content-type'), bytes }
}

function isWav(t: Test, { type, bytes }: Received, rateHz: number): void {
  t.equal(type, 'audio/wav')
  t.equal(bytes.toString('latin1', 0, 4) + bytes.toString('latin1', 8, 12), 'RIFFWAVE')
  t.equal(bytes.readUInt32LE(4), bytes.length - 8)
  t.equal(bytes.readUInt32LE(24), rateHz)
  t.equal(bytes.readUInt32LE(40), bytes.length - 44)
}

function loudest(bytes: Buffer): number {
  return Math.max(...new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2))
}

function kindOf(frame: string): string {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
  const data = field('data') ?? ''
  if (data === '[DONE]') return data
  return field('event') ?? (JSON.parse(data) as { type?: string }).type ?? 'message'
}
