/** Tests that a provider's failure is one log line, without a stack and without the provider's text. */
import t from 'tap'
import { ask, postJson, responses } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { type Behaviour, startStubOpenAi } from './stub-openai.ts'

const stub = await startStubOpenAi()
t.teardown(() => stub.close())

type Line = { msg: string; outcome?: string; reason?: string; status?: number }

/** Returns the warnings and errors that one failing request logs. */
async function linesOf(
  t: Parameters<typeof ownServer>[0],
  behaviour: Behaviour | null,
  streams = false,
): Promise<Line[]> {
  const provider = { id: 'main', adapter: 'openai', baseUrl: `${stub.url}/v1`, apiKey: 'k', models: { llm: ['chat'] } }
  const away = { ...provider, baseUrl: 'http://127.0.0.1:1/v1' }
  const server = await ownServer(t, {
    PARLEY_PROVIDERS: JSON.stringify([behaviour === null ? away : provider]),
    PARLEY_LOG_LEVEL: 'warn',
  })
  if (behaviour !== null) stub.behave(behaviour)
  const routing = { mode: 'explicit', model: 'main/chat' }
  await postJson(server, responses, ask('Hello.', { routing, ...(streams && { stream: true }) }))
  await server.stop()
  return server
    .output()
    .split('\n')
    .filter((line) => line.includes('"requestId"'))
    .map((line) => JSON.parse(line) as Line)
}

const cases: [name: string, behaviour: Behaviour | null, streams: boolean, line: object][] = [
  ['a refused connection', null, false, { outcome: 'unreachable', reason: /ECONNREFUSED/ }],
  ['a 500', { kind: 'status', status: 500 }, false, { outcome: 'server', status: 500 }],
  ['a 429', { kind: 'status', status: 429 }, false, { outcome: 'rate_limited', status: 429 }],
  ['a wrong key', { kind: 'status', status: 401 }, false, { outcome: 'auth', status: 401 }],
  ['a reset', { kind: 'reset' }, false, {}],
  ['no JSON', { kind: 'garbage' }, false, { outcome: 'protocol' }],
  ['an empty answer', { kind: 'empty' }, false, {}],
  ['a stream that ends in the middle', { kind: 'cut' }, true, {}],
  ['a stream with an error in the middle', { kind: 'error_mid' }, true, {}],
]
for (const [name, behaviour, streams, line] of cases)
  t.test(`a failure of ${name} is logged in one line without a stack`, async (t) => {
    const lines = await linesOf(t, behaviour, streams)
    t.match(lines, [{ msg: 'attempt failed', ...line }])
    t.equal(lines.length, 1, JSON.stringify(lines))
    t.notMatch(JSON.stringify(lines), /stack|node_modules|\.ts:/)
  })
