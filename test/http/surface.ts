/** An API for request and response tests. Each operation has one special trait. */
import type { Context, Input } from '../../runtime/engine/handler.ts'
import { jsonBody, operation, surface, validator } from './harness.ts'

const routing = {
  type: 'object',
  required: ['mode'],
  discriminator: { propertyName: 'mode' },
  oneOf: [
    {
      type: 'object',
      required: ['mode'],
      additionalProperties: false,
      properties: { mode: { const: 'auto' }, objective: { enum: ['balanced', 'cost'] } },
    },
    {
      type: 'object',
      required: ['mode', 'model'],
      additionalProperties: false,
      properties: { mode: { const: 'explicit' }, model: { type: 'string' } },
    },
  ],
}

const operations = [
  operation('echo', 'post', '/v1/echo', {
    body: jsonBody,
    headers: [{ name: 'Idempotency-Key', required: true, bytesMax: 8 }],
    validateParams: validator({
      type: 'object',
      properties: {
        header: {
          type: 'object',
          required: ['idempotency-key'],
          properties: { 'idempotency-key': { type: 'string', minLength: 1 } },
        },
      },
    }),
    validateBody: validator({
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: { type: 'string', maxLength: 5 }, size: { type: 'integer', default: 3 }, routing },
    }),
  }),
  operation('list', 'get', '/v1/things', {
    query: [
      { name: 'limit', type: 'integer', array: false },
      { name: 'ratio', type: 'number', array: false },
      { name: 'deep', type: 'boolean', array: false },
      { name: 'tag', type: 'string', array: true },
    ],
    validateParams: validator({
      type: 'object',
      properties: { query: { type: 'object', properties: { limit: { type: 'integer', maximum: 100, default: 20 } } } },
    }),
  }),
  operation('shaped', 'get', '/v1/shaped', {
    headers: [{ name: 'X-Service-Shape', required: false, bytesMax: 64, isJson: true }],
    validateParams: validator({
      type: 'object',
      properties: {
        header: {
          type: 'object',
          properties: {
            'x-service-shape': {
              type: 'object',
              required: ['name'],
              properties: {
                name: { type: 'string', maxLength: 5 },
                sizes: { type: 'array', items: { type: 'integer' } },
                filled: { type: 'boolean', default: true },
              },
            },
          },
        },
      },
    }),
  }),
  operation('read', 'get', '/v1/things/{id}'),
  operation('remove', 'delete', '/v1/things/{id}', {
    responses: { '204': { types: [], headers: [] } },
  }),
  operation('known', 'get', '/v1/things/known'),
  operation('nested', 'get', '/v1/things/{id}/parts/{part}'),
  operation('secret', 'get', '/v1/secret', { scope: 'router' }),
  operation('sealed', 'post', '/v1/sealed', { scope: 'router', body: jsonBody }),
  operation('old', 'get', '/v1/old', {
    deprecation: {
      deprecatedAt: '2026-05-16T00:00:00Z',
      sunset: '2026-08-14T00:00:00Z',
      link: 'https://example.com/new',
    },
    responses: {
      '200': { types: ['application/json'], headers: ['Service-Provider', 'X-Service-Note'] },
    },
  }),
  operation('fail', 'get', '/v1/fail'),
  operation('wrong', 'get', '/v1/wrong', {
    responses: { '200': { types: ['application/json'], headers: [], validate: validator({ type: 'string' }) } },
  }),
  operation('hang', 'get', '/v1/hang'),
  operation('page', 'get', '/v1/page', { responses: { '200': { types: ['text/html'], headers: [] } } }),
]

const answer = (input: Input) => ({ status: 200, body: input })
/** Collects the signals of requests to `hang`. */
export const hung: Context['signal'][] = []
export const handlers = {
  echo: ({ body }: Input, { contentHash }: Context) => ({ status: 200, body: { body, contentHash } }),
  list: answer,
  shaped: answer,
  read: answer,
  remove: () => Promise.resolve({ status: 204 }),
  known: () => ({ status: 200, body: 'known' }),
  nested: answer,
  secret: (_input: Input, { caller }: Context) => ({ status: 200, body: caller }),
  sealed: () => ({ status: 200, body: 'opened' }),
  old: () => ({
    status: 200,
    body: 1,
    headers: { 'Service-Provider': 'one\r\nX-Evil: 1', 'X-Service-Note': 'a\x01b\x7fc\tdé☎', 'X-Undeclared': 'u' },
  }),
  fail: (input: Input) => {
    throw new Error(`boom ${JSON.stringify(input)}`)
  },
  wrong: () => ({ status: 200, body: 1 }),
  hang: (_input: Input, context: Context) => {
    hung.push(context.signal)
    return new Promise<never>((_resolve, reject) =>
      context.signal.addEventListener('abort', () => reject(new Error('aborted'))),
    )
  },
  page: () => ({ status: 200, body: '<p>é</p>' }),
}

export const main = surface('main', ...operations)

/** The JSON fields that tests read by name. Other bodies are text, and a missing body is null. */
type Answered = { query: unknown; message: string; requestId: string }

export async function get(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') && text !== ''
  const body = (isJson ? JSON.parse(text) : text || null) as Answered
  return { status: response.status, headers: response.headers, body }
}

export const post = (url: string, body: string, headers: Record<string, string> = {}) =>
  get(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'idempotency-key': 'k', ...headers },
  })
