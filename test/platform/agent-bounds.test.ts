/** Tests every limit of an agent over the public API: a value at the limit, and a value beyond it. */
import t from 'tap'
import type { Target } from '../router/requests.ts'
import { agentBorders, fields, replacing, sharedBorders } from './setting-borders.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)

const least = { name: 'Front desk', systemPrompt: 'Be brief.', intent: { language: 'en-US' } }
const create = (target: Target, more: object = {}) => call(target, 'POST', '/v1/agents', { ...least, ...more })

/** A body that resets every optional setting. */
const cleared = Object.fromEntries(
  [
    'voice',
    'firstMessage',
    'firstMessageMode',
    'llmOptions',
    'stackPreferences',
    'sttOptions',
    'ttsOptions',
    'backgroundAudio',
    'speechNormalization',
    'idleRePrompts',
    'turnHandling',
    'voicemail',
    'maxDurationSeconds',
    'silenceTimeoutSeconds',
    'endCallMessage',
    'fallbackMessage',
    'maxToolHops',
    'timezone',
    'recording',
    'clientOverrides',
    'promptVariables',
    'extractionFields',
    'rmsg',
  ].map((name) => [name, null]),
)

t.test('each setting of an agent is accepted at its limit and refused beyond its limit', async (t) => {
  const acme = await admin.organization('borders')
  const { id } = (await create(acme, { name: 'bounded' })).json<{ id: string }>()
  const agentPath = `/v1/agents/${id}`
  for (const [path, taken, refused] of [...sharedBorders, ...agentBorders]) {
    const title = `${path} ${JSON.stringify(refused).slice(0, 60)}`
    const yes = await call(acme, 'PATCH', agentPath, { ...cleared, ...taken })
    t.equal(yes.status, 200, `${title} ${yes.text.slice(0, 200)}`)
    t.match(yes.json(), taken)
    const no = await create(acme, { name: 'refused', ...refused })
    t.same(faultOf(no), { status: 400, code: 'VALIDATION_ERROR', paths: [path] }, title)
    const changed = await call(acme, 'PATCH', agentPath, { ...cleared, ...refused })
    t.same(faultOf(changed).code, 'VALIDATION_ERROR', title)
  }
  t.equal((await call(acme, 'GET', '/v1/agents')).json<[]>().length, 1, 'nothing refused was stored')
})

t.test('a text replacement with an empty key, or a key of more than 128 characters, is refused', async (t) => {
  const acme = await admin.organization('keys')
  t.equal((await create(acme, replacing({ ['k'.repeat(128)]: 'v' }))).status, 201)
  for (const key of ['', 'k'.repeat(129)])
    t.match(faultOf(await create(acme, replacing({ [key]: 'v' }))), { status: 400, code: 'VALIDATION_ERROR' })
})

t.test('a request with thousands of invalid values is refused within seconds', async (t) => {
  const acme = await admin.organization('many')
  for (const body of [
    { clientOverrides: Array.from({ length: 45_000 }, (_, at) => at) },
    { extractionFields: fields(1, { type: 'enum', options: Array.from({ length: 45_000 }, (_, at) => at) }) },
    { promptVariables: Array.from({ length: 12_000 }, () => ({})) },
  ]) {
    const started = process.hrtime.bigint()
    t.match(faultOf(await create(acme, body)), { status: 400, code: 'VALIDATION_ERROR' })
    const seconds = Number(process.hrtime.bigint() - started) / 1e9
    t.ok(seconds < 4, `${seconds} s; copying the faults of each item takes 27`)
  }
})
