/** Bodies of agent tools at each limit. */

export const url = 'https://tools.example/run?x=1'

export const webhook = { kind: 'webhook', url }

export const source = (more: object) => ({ source: { ...webhook, ...more } })

/** A schema with this many bytes in JSON. */
const large = (bytes: number) => ({
  type: 'object',
  title: 'x'.repeat(bytes - '{"type":"object","title":""}'.length),
})

export const parameters = (schema: object) => ({ parameters: schema })

export const object = (properties: object) => parameters({ type: 'object', properties })

const headers = (count: number, value = 'v') =>
  source({ headers: Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, value])) })

const authHeaders = (count: number, value = 'v') =>
  source({ authHeaders: Array.from({ length: count }, (_, at) => ({ name: `x-${at}`, value })) })

const builtin = (name: string, config?: object) => ({
  source: { kind: 'builtin', name, ...(config && { config }) },
})

const deep = (schemas: number): object =>
  schemas === 1 ? { type: 'object' } : { type: 'object', properties: { a: deep(schemas - 1) } }

/** Bodies at each limit: the first is accepted; the second is refused with an error for the field at this path. */
export const borders: [path: string, taken: object, refused: object][] = [
  ['/name', { name: `_${'n'.repeat(63)}` }, { name: 'n'.repeat(65) }],
  ['/name', { name: 'A1' }, { name: '1A' }],
  ['/name', { name: 'find' }, { name: 'find it' }],
  ['/description', { description: '😀'.repeat(1024) }, { description: 'd'.repeat(1025) }],
  ['/description', { description: 'd' }, { description: '' }],
  ['/preToolSpeech', { preToolSpeech: 'always' }, { preToolSpeech: 'loud' }],
  ['/parameters', parameters({ type: 'object' }), parameters({ type: 'array' })],
  ['/parameters', parameters({ type: 'object' }), parameters({ properties: {} })],
  ['/parameters', parameters({ type: 'object' }), parameters({ type: ['object', 'null'] })],
  ['/parameters', parameters(large(16_384)), parameters(large(16_385))],
  ['/parameters', parameters(deep(8)), parameters(deep(9))],
  [
    '/parameters',
    object({ a: { $ref: '#/properties/b' }, b: {} }),
    object({ a: { $ref: 'https://x.example/s.json' } }),
  ],
  ['/parameters', object({ a: { $ref: '#' } }), object({ a: { $ref: '#/$defs/none' } })],
  ['/parameters', object({ a: { type: 'string' } }), object({ a: { type: 'text' } })],
  ['/parameters', object({ a: { pattern: '^a+$' } }), object({ a: { pattern: '(' } })],
  [
    '/parameters',
    parameters({ type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema' }),
    parameters({ type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' }),
  ],
  [
    '/source/url',
    source({ url: `https://a.example/${'p'.repeat(2030)}` }),
    source({ url: `https://a.example/${'p'.repeat(2031)}` }),
  ],
  ['/source/url', source({ url: 'https://8.8.8.8/' }), source({ url: 'https://10.0.0.1/' })],
  ['/source/url', source({ url: 'https://a.example' }), source({ url: 'http://a.example' })],
  ['/source/url', source({ url: 'HTTPS://A.example' }), source({ url: 'ftp://a.example' })],
  ['/source/url', source({}), source({ url: 'a.example/run' })],
  ['/source/url', source({}), source({ url: 'https://a.example/\n' })],
  ['/source/url', source({}), source({ url: ' https://a.example/' })],
  ['/source/url', source({}), source({ url: 'https://me:secret@a.example/' })],
  ['/source/url', source({ url: 'https://a.example:8443/' }), source({ url: 'https://a.example:22/' })],
  ['/source/url', source({}), source({ url: 'https://[::ffff:127.0.0.1]/' })],
  ['/source/url', source({}), source({ url: 'https://0x7f.1/' })],
  ['/source/url', source({}), source({ url: 'https://169.254.169.254/latest' })],
  ['/source/secret', source({ secret: 's'.repeat(8) }), source({ secret: 's'.repeat(7) })],
  ['/source/secret', source({ secret: 's'.repeat(256) }), source({ secret: 's'.repeat(257) })],
  ['/source/headers', headers(20), headers(21)],
  ['/source/headers/x-0', headers(1, 'v'.repeat(1024)), headers(1, 'v'.repeat(1025))],
  ['/source/headers/x-0', headers(1, 'caf\u00e9\t'), headers(1, 'a\r\nb: c')],
  ['/source/authHeaders', authHeaders(10), authHeaders(11)],
  ['/source/authHeaders/0/value', authHeaders(1, 'v'.repeat(4096)), authHeaders(1, 'v'.repeat(4097))],
  ['/source/authHeaders/0/value', authHeaders(1, 'v'), authHeaders(1, 'a\nb')],
  [
    '/source/authHeaders/0/name',
    source({ authHeaders: [{ name: 'n'.repeat(64), value: 'v' }] }),
    source({ authHeaders: [{ name: 'n'.repeat(65), value: 'v' }] }),
  ],
  [
    '/source/authHeaders/0/name',
    source({ authHeaders: [{ name: 'authorization', value: 'v' }] }),
    source({ authHeaders: [{ name: 'a b', value: 'v' }] }),
  ],
  [
    '/source/authHeaders/0/name',
    source({}),
    source({ headers: { 'X-Key': 'a' }, authHeaders: [{ name: 'x-key', value: 'v' }] }),
  ],
  ['/source/headers/x-key', source({}), source({ headers: { 'X-Key': 'a', 'x-key': 'b' } })],
  ['/source/timeoutMs', source({ timeoutMs: 500 }), source({ timeoutMs: 499 })],
  ['/source/timeoutMs', source({ timeoutMs: 30_000 }), source({ timeoutMs: 30_001 })],
  ['/source/responseMode', source({ responseMode: 'async' }), source({ responseMode: 'later' })],
  ['/source/asyncAck', source({ asyncAck: 'a'.repeat(500) }), source({ asyncAck: 'a'.repeat(501) })],
  [
    '/source/timeoutMs',
    { source: { kind: 'inline', timeoutMs: 30_000 } },
    { source: { kind: 'inline', timeoutMs: 499 } },
  ],
  ['/source/url', { source: { kind: 'inline' } }, { source: { kind: 'inline', url } }],
  ['/source/name', builtin('end_call', { enabled: false }), builtin('forward_call')],
  [
    '/source/config/maxDaysAhead',
    builtin('schedule_callback', { maxDaysAhead: 1 }),
    builtin('schedule_callback', { maxDaysAhead: 0 }),
  ],
  [
    '/source/config/maxDaysAhead',
    builtin('schedule_callback', { maxDaysAhead: 30 }),
    builtin('schedule_callback', { maxDaysAhead: 31 }),
  ],
  ['/source/config/maxDaysAhead', builtin('end_call', {}), builtin('end_call', { maxDaysAhead: 3 })],
  ['/source/config/enabled', builtin('send_dtmf', {}), builtin('send_dtmf', { enabled: true })],
  ['/source/config/other', builtin('end_call', {}), builtin('end_call', { other: 1 })],
  ['/source/kind', source({}), { source: { kind: 'integration' } }],
  ['/source/kind', source({}), { source: {} }],
  ['/source', source({}), { source: null }],
  ['/source', source({}), { source: 'webhook' }],
]
