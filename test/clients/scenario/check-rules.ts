/** Checks the requests that a test program has sent to the server in rule-server.ts. */
import type { Test } from 'tap'
import type { RuleServer } from './rule-server.ts'

/** A request is sent once, and repeated twice if the rules permit it. */
const sent = {
  posts: {
    limited: 4,
    progress: 1,
    broken: 1,
    upstream: 3,
    overloaded: 3,
    late: 1,
    final: 1,
    begun: 1,
    reset: 1,
    cut: 1,
  },
  reads: {
    limited: 3,
    progress: 1,
    broken: 3,
    upstream: 3,
    overloaded: 3,
    late: 3,
    final: 1,
    begun: 3,
    gateway: 1,
    silent: 1,
  },
}

export function checkRules(t: Test, server: RuleServer): void {
  const received = (answer: string) => server.received(answer)
  const count = (method: string) => (answer: string) =>
    [answer, received(answer).filter((request) => request.method === method).length] as const
  t.same(Object.fromEntries(Object.keys(sent.posts).map(count('POST'))), sent.posts, 'the requests with POST')
  t.same(Object.fromEntries(Object.keys(sent.reads).map(count('GET'))), sent.reads, 'the requests with GET')
  t.equal(received('elsewhere').length, 0, 'no redirect is followed')
  const keys = received('limited').flatMap(({ method, headers }) =>
    method === 'POST' ? headers['idempotency-key'] : [],
  )
  t.equal(new Set(keys).size, keys.length, 'each attempt has another Idempotency-Key')
  t.equal(keys.filter((key) => key === 'mine').length, 1, "the caller's Idempotency-Key is sent as given, and once")
  checkHeaders(t, received)
}

function checkHeaders(t: Test, received: RuleServer['received']): void {
  const [first, ...more] = received('headers')
  t.same(more, [])
  t.equal(first?.path, '/headers/v1/transcribe', 'slashes after the base address do not matter')
  const intent = String(first?.headers['x-voice-intent'])
  t.match(intent, /^[ -~]+$/, 'the header has only ASCII')
  t.same(JSON.parse(intent), { language: 'dé🎵' })
  t.equal(first?.headers['content-type'], 'audio/l16; rate=8000', "the caller's Content-Type is sent as given")
  t.match(first?.headers.authorization, /^Bearer \S+$/, 'the key comes from PARLEY_API_KEY')
  t.equal(received('limited')[0]?.path, '/limited/router/v1/llm/responses', 'the client adds the path of the surface')
}
