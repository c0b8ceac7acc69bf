/** Faults: a server accepts wrong requests, cuts answers, or opens sockets for the wrong clients. */
import { changeBody, type SeededFault } from './faults.ts'
import type { Asked, Fault } from './proxy.ts'

/** Repairs the JSON in wrong requests for a new agent, as if the server accepted them. */
const ofNewAgent = (change: (body: Record<string, unknown>) => void): Fault => ({
  request: (asked) => {
    if (asked.method === 'POST' && asked.path === '/v1/agents' && isObject(asked.body)) changeBody(asked, change)
  },
})

function isObject(body: Buffer): boolean {
  try {
    return typeof JSON.parse(body.toString()) === 'object'
  } catch {
    return false
  }
}

const isCreatingResponse = ({ method, path }: Asked) => method === 'POST' && path === '/router/v1/llm/responses'
/** Counts the repaired requests, so each gets a new name or key. */
let repaired = 0
let agentId = ''
/** The bodies of earlier requests. A fault sends them again. */
let created: Buffer = Buffer.alloc(0)
let streamed: Buffer = Buffer.alloc(0)

/** Faults in requests and answers. */
export const faultsOfRequests: readonly SeededFault[] = [
  {
    name: 'JSON without a byte',
    only: 'getAgent',
    checks: [9],
    answer: ({ method, path }, answer) => {
      if (!/^\/v1\/agents\/\w+$/.test(path) || answer.status !== 200) return
      delete answer.headers['content-length']
      if (method === 'GET') answer.body = Buffer.alloc(0)
    },
  },
  {
    name: 'an answer that is cut off',
    only: 'getAgent',
    checks: [17],
    cuts: ({ method, path }, { status }) => method === 'GET' && path.startsWith('/v1/agents/') && status === 200,
  },
  {
    name: 'a key without the scope is taken',
    only: 'getAgent',
    checks: [24],
    request: ({ path, headers }, key) => {
      const isKeyed = headers.authorization?.startsWith('Bearer sk_live_')
      if (isKeyed && path.startsWith('/v1/agents/')) headers.authorization = `Bearer ${key}`
    },
  },
  {
    name: 'an unknown id is found',
    only: 'getAgent',
    checks: [25],
    request: (asked) => {
      asked.path = asked.path.replace(/^\/v1\/agents\/\w*0{8}$/, `/v1/agents/${agentId}`)
    },
    answer: ({ method, path }, answer) => {
      if (method === 'POST' && path === '/v1/agents' && answer.status === 201)
        agentId = (JSON.parse(answer.body.toString()) as { id: string }).id
    },
  },
  {
    name: 'a missing field is taken',
    only: 'createAgent',
    checks: [27],
    ...ofNewAgent((body) => (body['name'] ??= `without_name_${++repaired}`)),
  },
  {
    name: 'a value beyond a bound is taken',
    only: 'createAgent',
    checks: [28],
    ...ofNewAgent((body) => {
      if (/^x{9,}$/.test(String(body['name']))) body['name'] = `too_long_${++repaired}`
    }),
  },
  {
    name: 'broken JSON is taken',
    only: 'createAgent',
    checks: [31],
    request: (asked) => {
      if (asked.body.toString() === '{"broken":') asked.body = created
      else if (asked.method === 'POST' && asked.path === '/v1/agents') created = asked.body
    },
  },
  {
    name: 'a missing idempotency key is taken',
    only: 'createSpeech',
    checks: [34],
    request: ({ method, headers }) => {
      if (method === 'POST') headers['idempotency-key'] ??= `missing-${++repaired}`
    },
  },
  {
    name: 'a rate limit in another form',
    only: 'getAgent',
    checks: [38],
    answer: (_asked, answer) => (answer.headers['ratelimit'] = '5 of 10'),
  },
  {
    name: 'a stream that is cut off after its last event',
    only: 'createResponse',
    checks: [43],
    cuts: (_asked, { headers }) => headers['content-type']?.startsWith('text/event-stream') ?? false,
  },
  {
    name: 'a faulty request of a stream is taken',
    only: 'createResponse',
    checks: [46],
    request: (asked) => {
      if (!isCreatingResponse(asked) || !isObject(asked.body)) return
      const { stream, model } = JSON.parse(asked.body.toString()) as { stream?: unknown; model?: unknown }
      if (stream === true && model === 5) asked.body = streamed
      else if (stream === true) streamed = asked.body
    },
  },
  {
    name: 'a stream that proxies may buffer',
    only: 'createResponse',
    checks: [47],
    answer: (_asked, answer) => void delete answer.headers['x-accel-buffering'],
  },
  {
    name: 'Last-Event-ID is ignored',
    only: 'streamSession',
    checks: [48],
    request: ({ headers }) => void delete headers['last-event-id'],
  },
  {
    name: 'Range is ignored',
    only: 'getCallRecordingAudio',
    checks: [51],
    request: ({ headers }) => void delete headers.range,
  },
  {
    name: 'a removed operation is not found',
    only: 'sendNumberMessage',
    checks: [62],
    answer: ({ body }, answer) => {
      if (answer.status !== 403 || body.toString() === '{') return
      answer.status = 404
      changeBody(answer, (envelope) => (envelope['code'] = 'NOT_FOUND'))
    },
  },
]

/** Faults of sockets. */
export const faultsOfSockets: readonly SeededFault[] = [
  {
    name: 'a socket opens without a key',
    only: 'synthesizeStream',
    checks: [53],
    opens: ({ key }) => `Bearer ${key}`,
  },
  {
    name: 'a socket refuses the right key',
    only: 'synthesizeStream',
    checks: [53],
    opens: () => 401,
  },
  {
    name: 'a session without a frame',
    only: 'transcriptionRealtime',
    checks: [54, 56],
    frameMs: 10_000,
    frame: (frame) => (Buffer.isBuffer(frame) ? [frame] : []),
  },
  {
    name: 'a frame that is too large is ignored',
    only: 'transcriptionRealtime',
    checks: [60],
    frameMs: 10_000,
    dropsLarge: true,
  },
]
