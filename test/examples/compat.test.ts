/** A server's responses match the examples of the OpenAI-compatible API. */
import t from 'tap'
import { createCompatClient } from '../../generated/clients/typescript/compat.ts'
import type { Behaviour } from '../providers/stub-openai.ts'
import { ownServer } from '../server.ts'
import { readFixture } from '../speech/fixtures.ts'
import { findTable, plainUsage, startProviders } from './providers.ts'
import { Examples, type Expected, type Sent } from './run.ts'

const providers = await startProviders()
t.teardown(() => providers.close())
const acme = await ownServer(t, providers.env)
const embedded = await ownServer(t, providers.withoutKeys)

const examples = new Examples('compat.openapi.yaml')
const audio = readFixture('please-try-call-later')
const opening: Behaviour = { kind: 'ok', text: 'We open at ten on Sundays.', usage: plainUsage }
const atTen = { kind: 'ok', text: 'At ten.', usage: plainUsage } satisfies Behaviour
const call: Behaviour = { ...findTable, usage: plainUsage }
const broken: Behaviour = { kind: 'cut' }
const events = { accept: 'text/event-stream' }
const chat = 'createChatCompletion'
const responses = 'createCompatResponse'
const transcription = { operation: 'createCompatTranscription', audio }
const native = { operation: 'transcribe', request: 'wav', audio }
const nativeHeaders = ['x-service-intent', 'x-service-constraints', 'x-session-id']

type Case = readonly [server: typeof acme, sent: Sent, behaviour: Behaviour | null, expected: Expected | string]

function subtitles(format: string): Case {
  const sent = { ...transcription, request: 'auto', fields: { response_format: format } }
  return [embedded, sent, null, `createCompatTranscription 200: ${format}`]
}

/**
 * Each case sends a request to a server, sets the behaviour of the provider acme, and names the expected example in the
 * contract.
 */
const cases: readonly Case[] = [
  [acme, { operation: chat, request: 'auto' }, opening, `${chat} 200: text`],
  [acme, { operation: chat, request: 'pinned', fields: { stream: false } }, call, `${chat} 200: tool_call`],
  [acme, { operation: chat, request: 'pinned' }, atTen, `${chat} 200: completed`],
  [acme, { operation: chat, request: 'pinned' }, broken, `${chat} 200: failed`],
  [acme, { operation: responses, request: 'text' }, opening, `${responses} 200: text`],
  [
    acme,
    { operation: responses, request: 'structured' },
    { ...opening, text: '{"time":"19:00"}' },
    `${responses} 200: structured`,
  ],
  [acme, { operation: responses, request: 'tools', fields: { stream: false } }, call, `${responses} 200: tool_call`],
  [acme, { operation: responses, request: 'tools' }, atTen, `${responses} 200: completed`],
  [
    acme,
    { operation: responses, request: 'tools' },
    { ...atTen, text: 'At ten', finish: 'length' },
    `${responses} 200: incomplete`,
  ],
  [acme, { operation: responses, request: 'tools' }, broken, `${responses} 200: failed`],
  [embedded, { ...transcription, request: 'auto' }, null, 'createCompatTranscription 200: json'],
  [acme, { ...transcription, request: 'verbose' }, null, 'createCompatTranscription 200: verbose_json'],
  ...['text', 'srt', 'vtt'].map(subtitles),
  [
    embedded,
    { ...transcription, request: 'auto', fields: { stream: 'true' } },
    null,
    'createCompatTranscription 200: completed',
  ],
  [embedded, { operation: 'createCompatSpeech', request: 'auto' }, null, 'createCompatSpeech 200: pcm'],
  [acme, { operation: 'createCompatSpeech', request: 'wav' }, null, 'createCompatSpeech 200: wav'],
  [
    embedded,
    { operation: 'createCompatSpeech', request: 'auto', fields: { stream_format: 'sse' } },
    null,
    'createCompatSpeech 200: completed',
  ],
  [embedded, { operation: 'streamCompatSpeech', request: 'auto' }, null, 'streamCompatSpeech 200: pcm'],
  [embedded, { operation: 'listCompatModels' }, null, 'listCompatModels 200: embedded'],
  [embedded, { operation: 'listCompatVoices' }, null, 'listCompatVoices 200: embedded'],
  [embedded, { operation: 'listCompatSpeechModels' }, null, 'listCompatSpeechModels 200: embedded'],
  [embedded, { operation: 'getCompatModel' }, null, 'getCompatModel 200: moonshine'],
  [
    embedded,
    { operation: 'previewRouting', parameters: ['stage', 'language', 'objective', 'region'] },
    null,
    { example: 'previewRouting 200: stt', parts: ['/excluded'] },
  ],
  [embedded, { operation: 'synthesize', request: 'auto' }, null, 'synthesize 200: pcm'],
  [embedded, { operation: 'synthesize', request: 'intent' }, null, 'synthesize 200: wav'],
  [embedded, { ...native, parameters: nativeHeaders }, null, 'transcribe 200: speech'],
  [embedded, { ...native, headers: events }, null, 'transcribe 200: completed'],
  [acme, { operation: 'complete', request: 'prompt' }, opening, 'complete 200: text'],
  [acme, { operation: 'complete', request: 'history' }, opening, 'complete 200: text'],
  [
    acme,
    { operation: 'complete', request: 'messages', headers: events },
    { ...call, text: 'One moment.' },
    'complete 200: completed',
  ],
  [acme, { operation: 'complete', request: 'messages', headers: events }, broken, 'complete 200: failed'],
  [
    embedded,
    { operation: 'createRealtimeClientSecret', request: 'transcription' },
    null,
    'createRealtimeClientSecret 200: token',
  ],
  [embedded, { operation: 'createRealtimeSession', request: 'none' }, null, 'createRealtimeSession 200: token'],
]

for (const [server, sent, behaviour, expected] of cases) {
  const whole: Expected = typeof expected === 'string' ? { example: expected } : expected
  t.test(`a response matches the example ${whole.example}, for ${sent.request ?? 'no body'}`, async (t) => {
    if (behaviour) providers.acme.behave(behaviour)
    examples.compare(t, await examples.send(server, sent), whole)
  })
}

t.test("the error not_found for a model that is not served matches the contract's example", async (t) => {
  const sent = { operation: chat, request: 'auto', fields: { model: 'openai:gpt-4o-mini' } }
  examples.compare(t, await examples.send(embedded, sent), { example: 'ModelNotServed: not_found' })
})

t.test('the generated client ends a stream of responses at its terminal event', async (t) => {
  const client = createCompatClient({ baseUrl: acme.url, apiKey: acme.key })
  for (const [behaviour, last] of [
    [atTen, 'response.completed'],
    [{ ...atTen, finish: 'length' }, 'response.incomplete'],
  ] as const) {
    providers.acme.behave(behaviour)
    const { body } = await client.createCompatResponse({
      body: { model: 'acme:chat-large', input: 'Hi', stream: true },
    })
    const kinds: string[] = []
    for await (const { event } of body as AsyncIterable<{ event: string }>) kinds.push(event)
    t.equal(kinds.at(-1), last)
  }
})

t.test("the contract documents match the contract's examples", async (t) => {
  await examples.compareDocument(t, embedded, 'getCompatContract')
  await examples.compareDocument(t, embedded, 'getRealtimeContract')
})

t.test('each example of the OpenAI-compatible API is compared with a response, or is listed with a reason', (t) => {
  const shared = [...examples.contract.answers].flatMap(([holder, { examples: list }]) =>
    holder.includes(' ') || holder === 'ModelNotServed' ? [] : [...list.keys()].map((name) => `${holder}: ${name}`),
  )
  examples.complete(t, {
    ...Object.fromEntries(shared.map((address) => [address, 'The router surface has it too: router.test.ts.'])),
    'transcribe 200: failed': 'All events are ready when the first is sent, so only a defect can come between them.',
  })
  t.end()
})
