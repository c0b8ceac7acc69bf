/** The examples of the contract are answers that the server gives: the same code, message, hint and place, word for word. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { startParley } from '../process/parley.ts'
import { specification } from './oracle.ts'
import { type Answer, ask, postJson, responses, send, speech, transcribe } from './requests.ts'

const parley = await startParley()
t.teardown(() => parley.remove())

type Examples = Record<string, Record<string, { value: { error: object } }>>

/** The examples of the error responses, by the name of the response. */
const examples: Examples = Object.fromEntries(
  Object.entries((specification as unknown as { components: { responses: object } }).components.responses)
    .map(([name, response]) => [name, (response as { content: Record<string, { examples: object }> }).content])
    .map(([name, content]) => [name, (content as Record<string, { examples: object }>)['application/json']?.examples]),
) as Examples

const silence = Buffer.concat([wavHeader(16_000), Buffer.alloc(16_000)])

const cases: readonly [response: string, example: string, send: () => Promise<Answer>][] = [
  [
    'BadRequest',
    'invalid_parameter',
    () => say({ routing: { mode: 'explicit', model: 'local/flite', objective: 'cost' } }),
  ],
  ['BadRequest', 'invalid_request', () => postJson(parley, speech, '{"input":')],
  [
    'BadRequest',
    'capability_unsupported',
    () =>
      transcribe(parley, silence, {
        options: { diarization: true },
        routing: { mode: 'auto', allow_providers: ['local'] },
      }),
  ],
  ['Unauthorized', 'authentication_failed', () => postJson({ ...parley, key: 'nobody' }, speech, { input: 'Hi.' })],
  ['NotFound', 'not_found', () => send(parley, '/router/v2/models')],
  ['MethodNotAllowed', 'method_not_allowed', () => send(parley, speech)],
  ['PayloadTooLarge', 'payload_too_large', () => postJson(parley, responses, ask('x'.repeat(9_000_000)))],
  ['UnsupportedMedia', 'unsupported_media', () => postJson(parley, speech, '<p>', { 'content-type': 'text/html' })],
  ['UnsupportedMedia', 'audio_format', () => transcribe(parley, Buffer.from('\0\0\0\x20ftypM4A mp42isom'))],
  ['Conflict', 'request_already_started', () => twice('Hello.', 'Hello.')],
  ['Conflict', 'idempotency_conflict', () => twice('Hello.', 'Hello again.')],
]

for (const [response, name, answered] of cases)
  t.test(`${response} ${name}`, async (t) => {
    const { error } = (await answered()).json()
    const { original_request_id: original, request_id: id, ...said } = error
    const { original_request_id: exampleOriginal, ...promised } = examples[response]?.[name]?.value
      .error as typeof error
    t.match(id, /^req_/)
    t.equal(original === undefined, exampleOriginal === undefined)
    t.same({ ...said, request_id: promised.request_id }, promised)
  })

t.test('examples of faults that other tests provoke have the recorded words', (t) => {
  type Recorded = { router: { body: { error: { code: string; message: string; hint: string } } } }
  const recorded = JSON.parse(readFileSync(new URL('./fault-answers.json', import.meta.url), 'utf8')) as Recorded[]
  const wordsOf = ({ code, message, hint }: { code: string; message: string; hint: string }) =>
    `${code}: ${message} ${hint}`.replaceAll(/\d+ s\b/g, 'N s')
  const known = new Set(recorded.map(({ router }) => wordsOf(router.body.error)))
  for (const [response, name] of [
    ['PaymentRequired', 'insufficient_credit'],
    ['TooManyRequests', 'concurrency_exhausted'],
    ['TooManyRequests', 'provider_rate_limited'],
    ['TooManyRequests', 'request_in_progress'],
    ['BadGateway', 'provider_error'],
    ['ServiceUnavailable', 'provider_unavailable'],
    ['GatewayTimeout', 'request_timeout'],
  ] as const) {
    const error = examples[response]?.[name]?.value.error as Parameters<typeof wordsOf>[0]
    t.ok(known.has(wordsOf(error)), wordsOf(error))
  }
  t.end()
})

function say(more: object): Promise<Answer> {
  return postJson(parley, speech, { input: 'Hello.', ...more })
}

async function twice(first: string, second: string): Promise<Answer> {
  const key = { 'idempotency-key': randomUUID() }
  await postJson(parley, speech, { input: first }, key)
  return postJson(parley, speech, { input: second }, key)
}

function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + bytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(8000, 24)
  header.writeUInt32LE(16_000, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(bytes, 40)
  return header
}
