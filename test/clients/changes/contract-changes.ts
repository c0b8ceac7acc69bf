/** Possible contract changes. Each row edits the specs, and names the languages whose users are not affected. */

/** Replaces text in all spec files whose name matches. Each of these files must contain the text at least once. */
export type Edit = { file: RegExp; find: RegExp; replace: string }
export type LanguageName = 'TypeScript' | 'Python' | 'Go' | 'Rust'
export type ContractChange = {
  kind: string
  edits: readonly Edit[]
  /** The languages with unaffected users, with the reason. All other languages must notice the change. */
  unhurt?: Readonly<Partial<Record<LanguageName, string>>>
}

const router = /^router\.openapi\.yaml$/
const realtime = /^realtime\.asyncapi\.yaml$/
const all = (reason: string) => ({ TypeScript: reason, Python: reason, Go: reason, Rust: reason })
const change = (file: RegExp, find: RegExp, replace: string): Edit => ({ file, find, replace })

export const contractChanges: readonly ContractChange[] = [
  {
    kind: 'a property is removed from an answer',
    edits: [
      change(router, /(LLMResponse:\n.*\n.*required: \[id, route, output), stop_reason/, '$1'),
      change(router, /(LLMResponse:\n(?:.*\n)*?) {8}stop_reason: .*\n/, '$1'),
    ],
  },
  { kind: 'a property is renamed', edits: [change(router, /stop_reason/g, 'finish_reason')] },
  {
    kind: 'a type is changed',
    edits: [change(router, /(TranscriptionResponse:\n(?:.*\n)*? {8}text: \{ type: )string/, '$1boolean')],
  },
  {
    kind: 'a property of a request becomes required',
    edits: [change(router, /(SpeechRequest:\n.*\n.*required: \[input)/, '$1, voice')],
  },
  {
    kind: 'a value of an enum is removed',
    edits: [change(realtime, /enum: \[audio\/wav, audio\/pcm\]/, 'enum: [audio/pcm]')],
  },
  { kind: 'an operation is removed', edits: [change(router, /^ {2}\/v1\/tts\/speech:\n(?: {4}.*\n|\n)+/m, '')] },
  { kind: 'a path is changed', edits: [change(router, /^ {2}\/v1\/models:/m, '  /v1/model-list:')] },
  { kind: 'a method is changed', edits: [change(router, /(\/v1\/models:\n {4})get:/, '$1delete:')] },
  {
    kind: 'the status of a success is changed',
    edits: [change(router, /(operationId: listModels\n(?:.*\n)*? {8})'200':/, "$1'201':")],
    unhurt: all('Each client takes any status of 2xx as a success.'),
  },
  {
    kind: 'a header becomes required',
    edits: [
      change(
        router,
        /(operationId: listModels\n(?:.*\n)*? {6}parameters:\n)/,
        '$1        - { name: X-Tenant, in: header, required: true, description: The tenant., example: a, schema: { type: string, maxLength: 64 } }\n',
      ),
    ],
  },
  {
    kind: 'an error code is renamed',
    edits: [change(/^platform\.openapi\.yaml$/, /SERVICE_UNAVAILABLE/g, 'SERVICE_DOWN')],
  },
  {
    kind: 'a message of a socket is renamed',
    edits: [change(realtime, /\b(name|type|const): transcript(?=,|$)/gm, '$1: transcript_text')],
  },
  {
    kind: 'a parameter of a query is renamed',
    edits: [change(/^platform.sessions\.yaml$/, /(operationId: listSessions\n(?:.*\n)*? {8}- name: )limit/, '$1count')],
  },
  {
    kind: 'a property can be null',
    edits: [change(router, /(TranscriptionResponse:\n(?:.*\n)*? {8}text: \{ type: )string/, "$1[string, 'null']")],
  },
  {
    kind: 'a number becomes a string',
    edits: [
      change(
        router,
        /(max_output_tokens:\n {10}type: )integer(\n.*\n) {10}minimum: .*\n {10}maximum: .*\n/,
        '$1string$2',
      ),
    ],
  },
  {
    kind: 'an array becomes an object',
    edits: [
      change(
        router,
        /(LLMResponse:\n(?:.*\n)*? {10}type: )array\n {10}items: (.*)/,
        '$1object\n          additionalProperties: $2',
      ),
    ],
  },
  {
    kind: 'a part of a form is renamed',
    edits: [
      change(router, /x-part-order: \[request, audio\]/, 'x-part-order: [request, recording]'),
      change(router, / {14}audio: (\{ contentType)/, '              recording: $1'),
      change(router, /required: \[request, audio\]/, 'required: [request, recording]'),
      change(router, / {8}audio: (\{ type: string, format: binary)/, '        recording: $1'),
    ],
  },
  {
    kind: 'an event of a stream is removed',
    edits: [change(router, / {16}response\.text\.delta: .*\n/, '')],
  },
  {
    kind: 'an answer of bytes becomes JSON',
    edits: [
      change(
        router,
        /application\/octet-stream:\n {14}schema: \{ type: string, format: binary.*\}/,
        "application/json:\n              schema: { $$ref: '#/components/schemas/LLMUsage' }",
      ),
    ],
  },
  {
    kind: 'the close code of an error is changed',
    edits: [change(realtime, /(INVALID_CONFIG: \{ closeCode: )1008/, '$11011')],
    unhurt: all("The clients show the close code that the server sends, and only the error's code decides."),
  },
  {
    kind: 'the error code of a close is renamed',
    edits: [change(realtime, /SHUTTING_DOWN/g, 'RESTARTING')],
  },
  {
    kind: 'a subprotocol is renamed',
    edits: [change(realtime, /x-subprotocol: service\.realtime\.v1/g, 'x-subprotocol: service.realtime.v2')],
  },
  {
    kind: 'an operation is open',
    edits: [
      change(
        router,
        /(operationId: listModels\n(?:.*\n)*?) {6}x-scope: router\n {6}x-role: viewer\n/,
        '$1      security: []\n',
      ),
    ],
  },
  {
    kind: 'a request has no Idempotency-Key',
    edits: [
      change(router, /^tags:/m, 'x-posts-without-key: true\ntags:'),
      change(router, /(operationId: createSpeech\n(?:.*\n)*?) {6}parameters:\n.*Idempotency-Key.*\n/, '$1'),
    ],
  },
  {
    kind: 'an optional property is added to an answer',
    edits: [
      change(
        router,
        /(LLMResponse:\n(?:.*\n)*? {6}properties:\n)/,
        '$1        note: { type: string, description: A note. }\n',
      ),
    ],
    unhurt: all('A field that a program does not read changes nothing.'),
  },
]
