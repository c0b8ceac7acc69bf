/** A server's possible faults, each with the conform checks (by number) to find it. */
import type { Answer, Asked, Fault, Frame } from './proxy.ts'

export type SeededFault = Fault & {
  name: string
  /** The operation, channel or document to check. */
  only: string
  checks: readonly number[]
  /** The time limit for a frame. It is set if the fault makes the tool wait until the limit. */
  frameMs?: number
}

const isAgent = ({ method, path }: Asked, { status }: Answer) =>
  (method === 'GET' || method === 'HEAD') && /^\/v1\/agents\/\w+$/.test(path) && status === 200

/** Changes the JSON in successful answers to getAgent. */
function ofAgent(change: (body: Record<string, unknown>, answer: Answer) => void): Fault {
  return {
    answer: (asked, answer) => {
      if (!isAgent(asked, answer)) return
      // Otherwise the response to HEAD would declare the unchanged body's length.
      delete answer.headers['content-length']
      if (asked.method === 'GET') changeBody(answer, (body) => change(body, answer))
    },
  }
}

export function changeBody(answer: { body: Buffer }, change: (body: Record<string, unknown>) => void): void {
  const body = JSON.parse(answer.body.toString()) as Record<string, unknown>
  change(body)
  answer.body = Buffer.from(JSON.stringify(body))
}

/** Changes the status or the headers of answers to getAgent, but not the body. */
const answerOfAgent = (change: (answer: Answer, asked: Asked) => void): Fault => ({
  answer: (asked, answer) => {
    if (isAgent(asked, answer)) change(answer, asked)
  },
})

/** Changes every error with this status. */
const error = (status: number, change: (answer: Answer, asked: Asked) => void): Fault => ({
  answer: (asked, answer) => {
    if (answer.status === status) change(answer, asked)
  },
})

/** Changes the status of refusals with this status to 500, as if the server had accepted the request and failed. */
const takes = (status: number, condition: (asked: Asked) => boolean = () => true): Fault => ({
  answer: (asked, answer) => {
    if (answer.status !== status || !condition(asked)) return
    answer.status = 500
  },
})

/** Changes a stream's text. */
const stream = (change: (text: string) => string): Fault => ({
  answer: (_asked, answer) => {
    if (answer.headers['content-type']?.startsWith('text/event-stream'))
      answer.body = Buffer.from(change(answer.body.toString()))
  },
})

const only = (type: string, change: (frame: Frame) => readonly Frame[]) => (frame: Frame | Buffer) =>
  Buffer.isBuffer(frame) || frame.type !== type ? [frame] : change(frame)

let firstId = ''

/** Changes a served document. */
const served = (path: string, change: (document: Served) => void): Fault => ({
  answer: (asked, answer) => {
    if (asked.path === path && asked.method === 'GET') changeBody(answer, (body) => change(body as Served))
  },
})

type Served = Record<string, unknown> & { paths: Record<string, Record<string, { operationId: string }>> }

/** Faults in documents, answers and errors. */
export const faultsOfAnswers: readonly SeededFault[] = [
  {
    name: 'a document with a reference to nothing',
    only: 'router',
    checks: [1],
    ...served('/router/openapi.json', (document) => (document['x-shared'] = { $ref: '#/components/schemas/Nothing' })),
  },
  {
    name: 'an operation that does not answer',
    only: 'router',
    checks: [2],
    answer: ({ method, path }, answer) => {
      if (method === 'POST' && path === '/router/v1/tts/speech') answer.status = 404
    },
  },
  {
    name: 'an Allow header that omits a declared method',
    only: 'router',
    checks: [3],
    ...error(405, (answer) => (answer.headers['allow'] = 'OPTIONS')),
  },
  {
    name: 'an Allow header with an undeclared method',
    only: 'router',
    checks: [6],
    answer: ({ method }, answer) => {
      if (method === 'OPTIONS') answer.headers['allow'] = `${answer.headers['allow']}, PUT`
    },
  },
  {
    name: 'two operations with one id',
    only: 'router',
    checks: [4, 5],
    ...served('/router/openapi.json', ({ paths }) => {
      const { post } = paths['/v1/tts/speech'] ?? {}
      if (post !== undefined) post.operationId = 'createResponse'
    }),
  },
  {
    name: 'an operation that the document leaves out',
    only: 'router',
    checks: [4, 7],
    ...served('/router/openapi.json', ({ paths }) => delete paths['/v1/models']),
  },
  { name: 'an undeclared status', only: 'getAgent', checks: [8], ...answerOfAgent((answer) => (answer.status = 203)) },
  {
    name: 'a declared status of a failure for a success',
    only: 'getAgent',
    checks: [10, 11, 12, 18, 20, 32],
    ...answerOfAgent((answer, { method }) => {
      if (method === 'GET') answer.status = 404
    }),
  },
  {
    name: 'an undeclared content type',
    only: 'getAgent',
    checks: [9],
    ...answerOfAgent((answer) => (answer.headers['content-type'] = 'text/html')),
  },
  { name: 'a lost field', only: 'getAgent', checks: [10, 11], ...ofAgent((body) => delete body['voice']) },
  { name: 'a field with another type', only: 'getAgent', checks: [10, 11], ...ofAgent((body) => (body['name'] = 7)) },
  { name: 'an undeclared field', only: 'getAgent', checks: [12], ...ofAgent((body) => (body['colour'] = 'red')) },
  {
    name: 'a date in another form',
    only: 'getAgent',
    checks: [10, 11, 13],
    ...ofAgent((body) => (body['createdAt'] = 'Sat, 28 Nov 2026 20:00:00 GMT')),
  },
  {
    name: 'a required header is missing',
    only: 'getAgent',
    checks: [14],
    ...answerOfAgent((answer) => delete answer.headers['service-region']),
  },
  {
    name: 'an undeclared header',
    only: 'getAgent',
    checks: [15],
    ...answerOfAgent((answer) => (answer.headers['x-colour'] = 'red')),
  },
  {
    name: 'a header with another value',
    only: 'getAgent',
    checks: [16],
    ...answerOfAgent((answer) => (answer.headers['service-region'] = '')),
  },
  {
    name: 'HEAD with another length',
    only: 'getAgent',
    checks: [18],
    ...answerOfAgent((answer, { method }) => {
      if (method === 'HEAD') answer.headers['content-length'] = '7'
    }),
  },
  {
    name: 'a cache may keep the answer',
    only: 'getAgent',
    checks: [16, 19],
    ...answerOfAgent((answer) => (answer.headers['cache-control'] = 'max-age=60')),
  },
  {
    name: 'an example is refused',
    only: 'createAgent',
    checks: [20],
    answer: (asked, answer) => {
      if (!asked.body.includes('promptVariables') || answer.status !== 201) return
      answer.status = 400
      const requestId = answer.headers['service-request-id']
      const issues = [{ path: '/name', message: 'no', keyword: 'rule' }]
      answer.body = Buffer.from(JSON.stringify({ error: 'no', code: 'VALIDATION_ERROR', issues, requestId }))
    },
  },
  {
    name: 'the wrong order of parts is accepted',
    only: 'createTranscription',
    checks: [21, 32],
    ...takes(400, ({ body }) => body.indexOf('name="audio"') < body.indexOf('name="request"')),
  },
  {
    name: '401 without WWW-Authenticate',
    only: 'getAgent',
    checks: [14, 22],
    ...error(401, (answer) => delete answer.headers['www-authenticate']),
  },
  {
    name: 'a missing key and an unknown key get different bodies',
    only: 'getAgent',
    checks: [23],
    ...error(401, (answer, { headers }) => {
      if (headers.authorization !== undefined) changeBody(answer, (body) => (body['error'] = 'This key is unknown.'))
    }),
  },
  {
    name: 'a code outside the table',
    only: 'getAgent',
    checks: [10, 11, 32],
    ...error(404, (answer) => changeBody(answer, (body) => (body['code'] = 'NO_SUCH_CODE'))),
  },
  {
    name: 'a request id that comes twice',
    only: 'getAgent',
    checks: [33],
    ...answerOfAgent((answer) => {
      firstId ||= answer.headers['service-request-id'] ?? ''
      answer.headers['service-request-id'] = firstId
    }),
  },
  {
    name: 'an unknown field is accepted',
    only: 'createAgent',
    checks: [26, 32],
    ...takes(400, ({ body }) => body.includes('conform_unknown')),
  },
  {
    name: 'an error that names another field',
    only: 'createAgent',
    checks: [26],
    answer: ({ body }, answer) => {
      if (answer.status !== 400 || !body.includes('conform_unknown')) return
      changeBody(answer, (envelope) => (envelope['issues'] = [{ path: '/elsewhere', message: 'no', keyword: 'rule' }]))
    },
  },
  { name: 'a huge body is accepted', only: 'createAgent', checks: [30], takesHuge: true },
  {
    name: 'a wrong content type is not 415',
    only: 'createAgent',
    checks: [29],
    ...error(415, (answer) => {
      answer.status = 400
      changeBody(answer, (body) => (body['code'] = 'VALIDATION_ERROR'))
    }),
  },
]

/** Faults in streams, audio, sockets and repeated requests. */
export const faultsOfStreams: readonly SeededFault[] = [
  {
    name: 'a stream without its terminal event',
    only: 'createResponse',
    checks: [42],
    ...stream((text) => {
      const blocks = text.split('\n\n')
      return blocks.filter((block) => !block.includes('event: response.completed')).join('\n\n')
    }),
  },
  {
    name: 'an event after the terminal event',
    only: 'createResponse',
    checks: [41, 42, 44],
    ...stream((text) => `${text}id: 0\nevent: response.text.delta\ndata: {"output_index":0,"delta":"x"}\n\n`),
  },
  {
    name: 'an undeclared event',
    only: 'createResponse',
    checks: [39],
    ...stream((text) => text.replace('event: response.created', 'event: response.begun')),
  },
  {
    name: 'a payload that breaks its schema',
    only: 'createResponse',
    checks: [40],
    ...stream((text) => text.replace(/"response_id":"[^"]*"/, '"response_id":7')),
  },
  {
    name: '[DONE] in a named stream',
    only: 'createResponse',
    checks: [39, 41, 42, 45],
    ...stream((text) => `${text}data: [DONE]\n\n`),
  },
  {
    name: 'a stream without [DONE]',
    only: 'createChatCompletion',
    checks: [42, 45],
    ...stream((text) => text.replace('data: [DONE]\n\n', '')),
  },
  {
    name: 'deltas that do not add up to the text',
    only: 'createResponse',
    checks: [44],
    ...stream((text) => text.replace(/"delta":"/, '"delta":"x')),
  },
  {
    name: 'audio that ends within a sample',
    only: 'createSpeech',
    checks: [49],
    answer: (_asked, answer) => {
      if (answer.headers['content-type'] === 'application/octet-stream' && answer.body.length > 40_000)
        answer.body = Buffer.concat([answer.body, Buffer.alloc((answer.body.length + 1) % 2)])
    },
  },
  {
    name: 'speech that is too short for its characters',
    only: 'createSpeech',
    checks: [50],
    answer: (_asked, answer) => {
      if (answer.headers['content-type'] === 'application/octet-stream') answer.body = answer.body.subarray(0, 200)
    },
  },
  {
    name: 'a repeated request is served again',
    only: 'createSpeech',
    checks: [32, 35, 36, 37],
    ...error(409, (answer) => {
      answer.status = 400
    }),
  },
  { name: 'a subprotocol that is not echoed', only: 'synthesizeStream', checks: [52], echoesProtocol: false },
  {
    name: 'a frame against its schema',
    only: 'synthesizeStream',
    checks: [54],
    frame: only('ready', (frame) => [{ ...frame, sampleRate: 'fast' }]),
  },
  {
    name: 'an undeclared frame',
    only: 'synthesizeStream',
    checks: [54],
    frame: only('ready', (frame) => [frame, { type: 'greeting' }]),
  },
  { name: 'a second `end`', only: 'synthesizeStream', checks: [57], frame: only('end', (frame) => [frame, frame]) },
  { name: 'another close code', only: 'synthesizeStream', checks: [55, 57], closeCode: 1001 },
  {
    name: 'an odd number of bytes in a binary frame',
    only: 'synthesizeStream',
    checks: [58],
    frame: (frame) => (Buffer.isBuffer(frame) ? [Buffer.concat([frame, Buffer.alloc(1)])] : [frame]),
  },
  {
    name: 'a ping without a pong',
    only: 'synthesizeStream',
    checks: [59],
    frame: only('pong', () => []),
  },
  {
    name: 'an unknown field of a frame is taken',
    only: 'synthesizeStream',
    checks: [56],
    asked: (frame) => {
      delete frame['conform_unknown']
      return frame
    },
  },
  {
    name: 'no Deprecation',
    only: 'sendNumberMessage',
    checks: [61],
    answer: (_asked, answer) => void delete answer.headers['deprecation'],
  },
  {
    name: 'Sunset soon after Deprecation',
    only: 'sendNumberMessage',
    checks: [61],
    answer: (_asked, answer) => {
      if (answer.headers['sunset'] !== undefined) answer.headers['sunset'] = 'Sun, 17 May 2026 00:00:00 GMT'
    },
  },
]
