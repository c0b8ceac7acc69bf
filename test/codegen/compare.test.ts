/** Each kind of change that breaks clients is found between two releases of a contract, and other changes pass. */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compareWith } from '../../codegen/compare/baseline.ts'
import { compareContracts, formatBreak, withoutAnnounced } from '../../codegen/compare/breaks.ts'
import {
  type Contracts,
  contractIn,
  filesAt,
  filesIn,
  lowerContract,
  readContracts,
} from '../../codegen/compare/contracts.ts'
import { noticeDays, releasesIn, releaseWithNotice } from '../../codegen/compare/releases.ts'
import { change, folder, type Step } from './golden.ts'

const root = join(folder, '../..')
const [lastRelease] = releasesIn(root)
const mini = contractIn(readFileSync(join(folder, 'golden/mini/contract.ts'), 'utf8'))
const sockets = contractIn(readFileSync(join(folder, 'golden/sockets/contract.ts'), 'utf8'))

const things = ['paths', '/v1/things']
const streams = ['paths', '/v1/streams', 'post']
const answerOfStream = [...streams, 'responses', '200', 'content']
const events = [...answerOfStream, 'text/event-stream', 'x-sse-events']
const upload = ['paths', '/v1/uploads', 'post', 'requestBody', 'content', 'multipart/form-data']
const webhook = ['webhooks', 'thing.changed', 'post']
const schemas = ['components', 'schemas']
const thing = [...schemas, 'Thing']
const circle = [...schemas, 'Circle']

const rawWebhook = (JSON.parse(mini) as { webhooks: Record<string, { post: object }> }).webhooks['thing.changed']?.post

/** A contract change, and the output line that must report it. */
type Seed = [step: Step | Step[], line: string]

const operationSeeds: Seed[] = [
  [{ remove: [...things, 'get'] }, 'mini GET /v1/things: the operation is gone [operation-removed]'],
  [
    { set: [...things, 'get', 'operationId', 'readThings'] },
    'mini GET /v1/things: listThings is readThings [operation-renamed]',
  ],
  [{ set: ['servers', [{ url: '/mini' }]] }, 'mini: the base path / is /mini [base-path]'],
  [{ remove: ['webhooks', 'thing.changed'] }, 'mini webhook thing.changed: no POST is sent [webhook-removed]'],
  [
    [{ set: ['webhooks', 'thing.changed', 'put', rawWebhook] }, { remove: webhook }],
    'mini webhook thing.changed: no POST is sent [webhook-removed]',
  ],
  [
    { set: [...webhook, 'operationId', 'changedThing'] },
    'mini webhook thing.changed: onThingChanged is changedThing [operation-renamed]',
  ],
  [{ set: ['paths', '/health', 'get', 'security', [{ bearer: [] }]] }, 'mini GET /health: needs a key [key-required]'],
  [{ set: [...things, 'get', 'x-scope', 's'] }, 'mini GET /v1/things: things is s [scope-changed]'],
  [
    { remove: [...answerOfStream, 'application/json'] },
    'mini POST /v1/streams 200 application/json: the media type is gone [media-type-removed]',
  ],
  [
    { remove: [...events, 'thing.delta'] },
    'mini POST /v1/streams 200 text/event-stream thing.delta: the event is gone [event-removed]',
  ],
  [
    { set: [...streams, 'x-stream-switch', 'shape'] },
    'mini POST /v1/streams: the events are selected otherwise [stream-switch]',
  ],
  [
    { remove: ['paths', '/v1/things/{id}', 'get', 'responses', '400'] },
    'mini GET /v1/things/{id} 400: the status is gone [status-removed]',
  ],
  [
    { remove: [...things, 'post', 'responses', '201', 'headers', 'Thing-Version'] },
    'mini POST /v1/things 201 header Thing-Version: not always sent [header-removed]',
  ],
  [
    { set: [...webhook, 'parameters', '0', 'required', false] },
    'mini webhook thing.changed header webhook-id: not always sent [header-removed]',
  ],
  [{ remove: ['x-error-codes', 'broken'] }, 'mini error broken: the code is gone [error-removed]'],
  [{ set: ['x-error-codes', 'broken', 'status', 502] }, 'mini error broken: 500 is 502 [error-status]'],
  [
    { set: [...upload, 'x-part-order', ['audio', 'request']] },
    'mini POST /v1/uploads body multipart/form-data: the order is audio, request [part-order]',
  ],
]

const requestSeeds: Seed[] = [
  [{ remove: [...circle, 'properties', 'filled'] }, 'mini request Circle/filled: the field [request-field-removed]'],
  [
    { set: [...circle, 'required', ['kind', 'radius', 'filled']] },
    'mini request Circle/filled: newly required [request-field-required]',
  ],
  [
    { set: [...things, 'get', 'parameters', '3', 'required', true] },
    'mini GET /v1/things query archived: newly required [request-field-required]',
  ],
  [
    { set: [...schemas, 'Level', 'enum', ['high']] },
    'mini request Level: no longer accepted: the value "low" [request-value]',
  ],
  [
    { set: [...thing, 'properties', 'name', { type: 'string', enum: ['ball'] }] },
    'mini request Thing/name: no longer accepted: values other than ball [request-value]',
  ],
  [
    { set: [...thing, 'properties', 'name', { type: 'integer' }] },
    'mini request Thing/name: no longer accepted: the type string [request-type]',
  ],
  [
    { set: [...circle, 'properties', 'radius', { type: 'integer' }] },
    'mini request Circle/radius: no longer accepted: numbers other than integers [request-type]',
  ],
  [
    { set: [...schemas, 'Tree', 'properties', 'name', 'maxLength', 4] },
    'mini request Tree/name: no longer accepted: maxLength 4 against 8 [request-bound]',
  ],
  [
    { set: [...thing, 'properties', 'name', 'pattern', '^b'] },
    'mini request Thing/name: no longer accepted: pattern "^b" against another [request-bound]',
  ],
  [
    { set: [...things, 'get', 'parameters', '0', 'schema', 'maximum', 50] },
    'mini GET /v1/things query limit: no longer accepted: maximum 50 against 100 [request-bound]',
  ],
  [
    { set: [...schemas, 'Shape', 'oneOf', [{ $ref: '#/components/schemas/Circle' }]] },
    'mini request Shape: no longer accepted: the arm square [request-arm]',
  ],
  [
    { set: [...things, 'get', 'parameters', '1', 'name', 'rank'] },
    'mini GET /v1/things query level: the parameter [request-field-removed]',
  ],
]

const versionOfThing = [...things, 'post', 'responses', '201', 'headers', 'Thing-Version']
const answerSeeds: Seed[] = [
  [
    { set: [...versionOfThing, 'schema', { type: 'string' }] },
    'mini POST /v1/things 201 header Thing-Version: new in answers: the type string [answer-type]',
  ],
  [
    { set: [...webhook, 'parameters', '0', 'schema', 'type', 'integer'] },
    'mini webhook thing.changed header webhook-id: new in answers: the type number [answer-type]',
  ],
  [{ set: [...schemas, 'Delta', { type: 'object' }] }, 'mini answer Delta/text: the field [answer-field-removed]'],
  [{ remove: [...schemas, 'Delta', 'required'] }, 'mini answer Delta/text: not always sent [answer-field-optional]'],
  [
    { set: [...schemas, 'Delta', 'properties', 'text', 'type', ['string', 'null']] },
    'mini answer Delta/text: new in answers: the type null [answer-type]',
  ],
  [
    { set: [...schemas, 'Level', 'enum', ['low', 'high', 'middle']] },
    'mini answer Level: new in answers: the value "middle" [answer-value]',
  ],
  [
    { remove: [...schemas, 'Tree', 'properties', 'name', 'maxLength'] },
    'mini answer Tree/name: new in answers: maxLength 8 against no bound [answer-bound]',
  ],
  [
    { set: [...schemas, 'Shape', 'oneOf', [circleRef(), { $ref: '#/components/schemas/Square' }, cube()]] },
    'mini answer Shape: new in answers: the arm cube [answer-arm]',
  ],
]

const channelSeeds: Seed[] = [
  [{ remove: ['channels', 'relay'] }, 'sockets channel /v1/relay: the channel is gone [channel-removed]'],
  [
    { set: ['channels', 'talk', 'x-subprotocol', 'mini.v2'] },
    'sockets channel /v1/talk: mini.v1 is mini.v2 [subprotocol]',
  ],
  [
    { set: ['operations', 'sendTalk', 'messages', [{ $ref: '#/channels/talk/messages/said' }]] },
    'sockets channel /v1/talk frame end: the frame is gone [frame-removed]',
  ],
  [
    { set: [...schemas, 'SayFrame', 'required', ['type', 'text', 'times']] },
    'sockets request SayFrame/times: newly required [request-field-required]',
  ],
  [
    { remove: [...schemas, 'SaidFrame', 'properties', 'mood'] },
    'sockets answer SaidFrame/mood: the field [answer-field-removed]',
  ],
  [
    { remove: ['channels', 'relay', 'x-open-frames'] },
    'sockets channel /v1/relay: fields with other names [request-field-removed]',
  ],
  [{ remove: ['x-error-codes', 'BROKEN'] }, 'sockets error BROKEN: the code is gone [error-removed]'],
  [
    { set: ['channels', 'relay', 'bindings', 'ws', 'query', 'properties', 'intent', 'enum', ['listening']] },
    'sockets channel /v1/relay: no longer accepted: intent speaking [request-value]',
  ],
]

const { channels } = JSON.parse(sockets) as { channels: Record<string, object> }
channelSeeds.push([
  [{ set: ['channels', 'speak', channels['talk']] }, { remove: ['channels', 'talk'] }],
  'sockets channel /v1/talk: talk is speak [channel-renamed]',
])

function circleRef() {
  return { $ref: '#/components/schemas/Circle' }
}

function cube() {
  return { type: 'object', required: ['kind'], properties: { kind: { type: 'string', const: 'cube' } } }
}

function contracts(name: string, contract: string, steps: Step | Step[] = []): Contracts {
  const document: unknown = JSON.parse(contract)
  for (const step of [steps].flat()) change(document, step)
  return new Map([[name, lowerContract(name, JSON.stringify(document))]])
}

function breaksOf(name: string, contract: string, steps: Step | Step[]): string[] {
  return compareContracts(contracts(name, contract), contracts(name, contract, steps)).map(formatBreak)
}

for (const [kind, name, contract, seeds] of [
  ['operations', 'mini', mini, operationSeeds],
  ['requests', 'mini', mini, requestSeeds],
  ['answers', 'mini', mini, answerSeeds],
  ['channels', 'sockets', sockets, channelSeeds],
] as const)
  t.test(`each change in ${kind} that breaks clients is reported with its location and rule`, (t) => {
    for (const [steps, line] of seeds) {
      const lines = breaksOf(name, contract, steps)
      t.ok(lines.includes(line), line, { lines })
    }
    t.end()
  })

t.test('docs/governance.md lists exactly the rules that breaking changes violate', (t) => {
  const ruleIn = (line: string) => /\[([a-z-]+)\]$/.exec(line)?.[1] ?? line
  const seeded = [operationSeeds, requestSeeds, answerSeeds, channelSeeds].flat().map(([, line]) => ruleIn(line))
  const text = readFileSync(join(root, 'docs/governance.md'), 'utf8')
  const [, table = ''] = text.split('## Breaks')
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z-]+)`/g)].map(([, rule]) => rule))
  t.same([...new Set([...seeded, 'document-removed'])].sort(), listed.sort())
  t.end()
})

t.test('changes that no client notices are allowed', (t) => {
  const allowed: Step[] = [
    { set: [...circle, 'properties', 'colour', { type: 'string' }] },
    { set: [...schemas, 'Delta', 'properties', 'mood', { type: 'string' }] },
    { set: [...events, 'thing.grown', 'Tree'] },
    { set: ['paths', '/v1/more', { get: { operationId: 'more', responses: {} } }] },
    { set: ['x-error-codes', 'slow', { status: 503 }] },
    { set: [...things, 'get', 'parameters', '0', 'schema', 'maximum', 200] },
    { set: [...things, 'get', 'parameters', '5', { name: 'page', in: 'query', schema: { type: 'string' } }] },
    { set: [...schemas, 'Upload', 'required', ['request']] },
    { remove: [...answerOfStream, 'text/event-stream', 'examples'] },
  ]
  for (const step of allowed) t.same(breaksOf('mini', mini, step), [], JSON.stringify(step))
  t.end()
})

t.test('it is not a breaking change if null moves from a component to the references to the component', (t) => {
  const level = { type: 'string', enum: ['low', 'high'], pattern: '^[a-z]+$' }
  const before = contracts('mini', mini, [
    { set: [...schemas, 'Level', { ...level, type: ['string', 'null'], enum: ['low', 'high', null] }] },
  ])
  const after = contracts('mini', mini, [
    { set: [...schemas, 'Level', level] },
    { set: [...thing, 'properties', 'level', { oneOf: [{ $ref: '#/components/schemas/Level' }, { type: 'null' }] }] },
    { set: [...things, 'get', 'parameters', '1', 'schema', { ...level, type: ['string', 'null'], enum: undefined }] },
  ])
  t.same(compareContracts(before, after).map(formatBreak), [])
  t.end()
})

t.test('a breaking change to an operation or a field is allowed if an earlier release deprecated it in time', (t) => {
  const deprecated: Step[] = [
    { set: [...things, 'get', 'deprecated', true] },
    { set: [...circle, 'properties', 'filled', 'deprecated', true] },
  ]
  const announced = contracts('mini', mini, deprecated)
  const removed = contracts('mini', mini, [
    { remove: [...things, 'get'] },
    { remove: [...circle, 'properties', 'filled'] },
    { remove: ['webhooks', 'thing.changed'] },
  ])
  const breaks = compareContracts(announced, removed)
  t.same(withoutAnnounced(breaks, announced).map(formatBreak), [
    'mini webhook thing.changed: no POST is sent [webhook-removed]',
  ])
  t.ok(withoutAnnounced(breaks, new Map()).length > 2, 'without the announcement all are reported')
  t.end()
})

t.test('a deprecation must have been in a release for 90 days before it counts', (t) => {
  const day = 86_400_000
  const releases = [
    { tag: 'v0.3.0', atMs: 200 * day },
    { tag: 'v0.2.0', atMs: 100 * day },
    { tag: 'v0.1.0', atMs: 0 },
  ]
  t.equal(releaseWithNotice(releases, (100 + noticeDays) * day)?.tag, 'v0.2.0')
  t.equal(releaseWithNotice(releases, (100 + noticeDays) * day - 1)?.tag, 'v0.1.0')
  t.equal(releaseWithNotice(releases, day), undefined)
  t.end()
})

t.test('the releases are the tags v… of the history, the latest first, and a contract is read from a tag', (t) => {
  const repository = t.testdir()
  const git = (...args: string[]) => {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
    execFileSync('git', [...who, ...args], { cwd: repository, env: { ...process.env, ...dates }, stdio: 'pipe' })
  }
  const dates: Record<string, string> = { GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z' }
  git('init', '--quiet')
  t.same(releasesIn(repository), [], 'without commits there are no releases')
  cpSync(join(root, 'generated/router/contract.ts'), join(repository, 'generated/router/contract.ts'))
  git('add', '--all')
  git('commit', '--quiet', '--message', 'first')
  git('tag', 'v0.1.0')
  dates['GIT_COMMITTER_DATE'] = '2026-03-01T00:00:00Z'
  git('commit', '--quiet', '--allow-empty', '--message', 'second')
  git('tag', 'v0.2.0')
  git('tag', 'nightly')
  t.same(releasesIn(repository), [
    { tag: 'v0.2.0', atMs: Date.UTC(2026, 2, 1) },
    { tag: 'v0.1.0', atMs: Date.UTC(2026, 0, 1) },
  ])
  const tagged = readContracts(filesAt('v0.1.0', repository))
  t.same([...tagged.keys()], ['router'])
  t.same(compareContracts(tagged, readContracts(filesIn(root))), [])
  t.equal(readContracts(filesAt('v9', repository)).size, 0)
  t.end()
})

t.test('the contracts of this version can be read, and have no breaking change against themselves', (t) => {
  const now = readContracts(filesIn(root))
  t.same([...now.keys()], ['router', 'compat', 'platform', 'realtime', 'session'])
  t.same(compareContracts(now, now), [])
  t.same(
    compareContracts(now, new Map()).map(({ rule }) => rule),
    Array.from({ length: 5 }, () => 'document-removed'),
  )
  t.end()
})

t.test(
  'the contracts break no client of the last release',
  { skip: lastRelease ? false : 'there is no tag v… yet, or the checkout has no tags' },
  (t) => {
    const report = compareWith(lastRelease?.tag ?? '', root, Date.now())
    t.same(report?.breaks.map(formatBreak), [])
    t.end()
  },
)

t.test('a contract that exists but cannot be read is an error, and does not count as absent', (t) => {
  const path = 'generated/router/contract.ts'
  t.equal(filesIn(t.testdir())(path), null)
  t.throws(() => filesIn(t.testdir({ generated: { router: { 'contract.ts': {} } } }))(path), { code: 'EISDIR' })
  t.throws(() => readContracts(() => 'export const routerContract = 7'), /has no contract/)
  t.equal(filesAt('v9', root)(path), null)
  t.throws(() => filesAt('HEAD', join(root, 'no-such-folder'))(path), { code: 'ENOENT' })
  t.end()
})

t.test('a baseline without contracts is refused', (t) => {
  t.equal(compareWith('v9.9.9', root, 0), null)
  t.equal(compareWith(t.testdir({ generated: {} }), root, 0), null)
  t.same(compareWith(root, root, 0), { breaks: [], announced: 0 })
  t.end()
})
