/**
 * Tests fields that published SDKs send. If this server lacks a field's feature, only the field's neutral value is
 * accepted, and other values are refused by name. The bodies are like the bodies from the SDKs for Python and
 * TypeScript.
 */
import t from 'tap'
import { forms } from '../numbers/forms.ts'
import { insertNumber } from '../phone/stored-number.ts'
import { openDatabase } from '../process/database.ts'
import { call, faultOf, startOwnAdministered } from './setup.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())
let made = 0
const acme = await admin.organization('with published clients')
const agent = (more: object) => ({
  name: crypto.randomUUID(),
  systemPrompt: 'Be brief.',
  intent: { language: 'en' },
  ...more,
})
const { id: agentId } = (await call(acme, 'POST', '/v1/agents', agent({}))).json<{ id: string }>()
const number = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+12125551200' })
const parameters = { type: 'object', properties: {} }
const tool = (more: object) => ({
  name: `tool_${made++}`,
  description: 'Shows a map.',
  parameters,
  source: { kind: 'inline' },
  ...more,
})
const url = 'https://hooks.example/calls'
const ambient = (more: object) => ({ backgroundAudio: { ambient: { clip: 'crowded-room', ...more } } })
const toolSound = (more: object) => ({ backgroundAudio: { toolSound: { clip: 'crowded-room', ...more } } })
const hook = (more: object) => ({ webhooks: { status: { url, ...more } } })
const providers = (more: object) => ({ stackPreferences: { allowedProviders: more } })

type Row = [field: string, taken: object, refused: object]
const ofAgent: Row[] = [
  ['/audioOutput/gainDb', { audioOutput: { gainDb: 0 } }, { audioOutput: { gainDb: -6 } }],
  ['/stackPreferences/allowedProviders/s2s', providers({ s2s: [] }), providers({ s2s: ['openai'] })],
  ['/stackPreferences/allowedProviders/s2S', providers({ s2S: [] }), providers({ s2S: ['openai'] })],
  ['/backgroundAudio/ambient/soundId', ambient({ soundId: null }), ambient({ soundId: 'sound_1' })],
  ['/backgroundAudio/toolSound/minDurationMs', toolSound({ minDurationMs: 0 }), toolSound({ minDurationMs: 600 })],
  ['/backgroundAudio/toolSound/startDelayMs', toolSound({ startDelayMs: 0 }), toolSound({ startDelayMs: 1 })],
  ['/webhooks/status/responseMode', hook({ responseMode: 'sync' }), hook({ responseMode: 'async' })],
  ['/webhooks/status/asyncAck', hook({ asyncAck: null }), hook({ asyncAck: 'Accepted.' })],
]
const ofTool: Row[] = [
  ['/toolSound/enabled', { toolSound: { enabled: true } }, { toolSound: { enabled: false } }],
  ['/simulation/mode', { simulation: { mode: 'live' } }, { simulation: { mode: 'mock' } }],
]
const turns = (more: object) => ({ turnHandling: more })
const ofCall: Row[] = [
  ['/turnHandling/vad/provider', turns({ vad: { provider: 'silero' } }), turns({ vad: { provider: 'ai-coustics' } })],
  [
    '/turnHandling/noiseCancellation/enabled',
    turns({ noiseCancellation: { enabled: false } }),
    turns({ noiseCancellation: { enabled: true } }),
  ],
  ['/turnHandling/contextThreshold', turns({ contextThreshold: false }), turns({ contextThreshold: true })],
  ['/turnHandling/greetFirst', turns({ greetFirst: true }), turns({ greetFirst: false })],
  ['/toolSecrets', { toolSecrets: {} }, { toolSecrets: { token: 'secret-of-one-call' } }],
  ['/endCall/reason', { endCall: { enabled: false } }, { endCall: { enabled: true, reason: 'x' } }],
]
const ofNumber: Row[] = [['/smsAutomationEnabled', { smsAutomationEnabled: false }, { smsAutomationEnabled: true }]]
const ofEndpoint: Row[] = [['/contentMode', { contentMode: 'full' }, { contentMode: 'metadata_only' }]]

/** Tests each row: the neutral value gets the status `wanted`, and the other value is refused. */
function fields(
  subject: string,
  rows: Row[],
  method: string,
  path: string,
  bodyOf: (more: object) => object,
  wanted: number,
) {
  t.test(`${subject} accepts fields without effect only at their neutral values`, async (t) => {
    for (const [field, taken, refused] of rows) {
      const yes = await call(acme, method, path, bodyOf(taken))
      t.equal(yes.status, wanted, `${field}: ${yes.text}`)
      const no = faultOf(await call(acme, method, path, bodyOf(refused)))
      t.same(no, { status: 400, code: 'VALIDATION_ERROR', paths: [field] }, JSON.stringify(refused))
    }
  })
}

fields('an agent', ofAgent, 'POST', '/v1/agents', agent, 201)
fields('a change of an agent', ofAgent, 'PATCH', `/v1/agents/${agentId}`, (more) => more, 200)
fields('a tool', ofTool, 'POST', `/v1/agents/${agentId}/tools`, tool, 201)
fields('a number', ofNumber, 'PATCH', `/v1/phone-numbers/${number}`, (more) => more, 200)
fields(
  'an endpoint',
  ofEndpoint,
  'POST',
  '/v1/webhooks',
  (more) => ({ name: 'calls', url, events: ['call.status'], ...more }),
  201,
)
// The carrier refuses this number, so a valid request places no call.
const dial = (more: object) => ({ to: '+15005550001', intent: { language: 'en' }, systemPrompt: 'Be brief.', ...more })
fields('a call by phone', ofCall, 'POST', '/v1/sessions/phone', dial, 502)

t.test("an agent's fields with values that have no effect are returned as sent, except audioOutput", async (t) => {
  const sent = { ...toolSound({ minDurationMs: 0 }), turnHandling: { greetFirst: true } }
  const made = (await call(acme, 'POST', '/v1/agents', agent({ ...sent, audioOutput: { gainDb: 0 } }))).json<object>()
  t.notOk('audioOutput' in made)
  t.match(made, sent)
})

t.test('a transfer accepts fields without effect only at their neutral values, such as enabled: false', async (t) => {
  const path = '/v1/calls/019aaaf6-7c00-7d5e-9b3a-2f1c8e4d6a70/transfers/warm'
  const neutral = { outboundTrunkId: null, waitUntilAnswered: false, voicemailDetection: { enabled: false } }
  const destinations = [{ to: '+12025550143', outboundTrunkId: null }]
  t.match(faultOf(await call(acme, 'POST', path, { destinations, ...neutral })), { status: 404 }, 'the body was valid')
  for (const [field, refused] of [
    ['/waitUntilAnswered', { waitUntilAnswered: true }],
    ['/outboundTrunkId', { outboundTrunkId: 'trunk_1' }],
  ] as const) {
    const answer = await call(acme, 'POST', path, { destinations, ...refused })
    t.same(faultOf(answer), { status: 400, code: 'VALIDATION_ERROR', paths: [field] })
  }
})

t.test('a business is verified by a declaration, or by its profile and its representative', async (t) => {
  const submit = (target: typeof acme, body: object) => call(target, 'POST', '/v1/phone-numbers/kyb/submit', body)
  const declaration = { businessName: 'Harbor Dental LLC', useCase: 'Appointments' }
  const attested = { attestationAccepted: true, attestationVersion: '2026-07' }
  const short = await admin.organization('with a declaration')
  for (const [body, paths] of [
    [attested, ['/businessProfile', '/authorizedRepresentative']],
    [{ ...attested, businessProfile: forms.businessProfile }, ['/authorizedRepresentative']],
    [{ businessProfile: forms.businessProfile }, ['/authorizedRepresentative', '/attestationAccepted']],
    [{ ...forms, ...attested, declaration }, ['/declaration']],
    [{ ...attested, declaration, authorizedRepresentative: forms.authorizedRepresentative }, ['/declaration']],
    [{ ...attested, declaration: { businessName: 'x' } }, ['/declaration/useCase']],
  ] as const)
    t.same(faultOf(await submit(short, body)), { status: 400, code: 'VALIDATION_ERROR', paths })
  const draft = { authorizedRepresentative: forms.authorizedRepresentative }
  t.equal((await call(short, 'PUT', '/v1/phone-numbers/kyb/draft', draft)).status, 200)
  const submitted = await submit(short, { ...attested, declaration })
  const { submission } = submitted.json<{ submission: Record<string, unknown> }>()
  const { status, businessProfile, authorizedRepresentative } = submission
  t.same([submitted.status, status], [200, 'submitted'], submitted.text)
  const legalName = 'Harbor Dental LLC'
  t.same(businessProfile, { legalName, displayName: legalName, useCase: 'Appointments' }, 'the operator gets these')
  t.same(authorizedRepresentative, forms.authorizedRepresentative, 'the representative of the draft stays')
  const whole = await admin.organization('with forms')
  t.equal((await submit(whole, { ...forms, ...attested })).status, 200)
})

t.test('the balance is in dollars, and the ledger lists credit movements as topup or adjustment', async (t) => {
  const poor = await admin.organization('with movements', { creditMicroUsd: 0 })
  const balance = async () => (await call(poor, 'GET', '/v1/credits/balance')).json<Record<string, unknown>>()
  t.match(await balance(), { balanceUsd: 0, currency: 'USD', updatedAt: /^2/ }, 'also before the first movement')
  for (const microUsd of [2_500_000, -500_000]) await admin.store.organizations.addCredit(poor.id, microUsd)
  t.equal((await balance())['balanceUsd'], 2)
  type Ledger = {
    entries: { id: string; createdAt: string; kind: string; amountMicroUsd: string }[]
    nextCursor: string
  }
  const ledger = async (query: string) => (await call(poor, 'GET', `/v1/credits/ledger?${query}`)).json<Ledger>()
  const shown = ({ entries }: Ledger) =>
    entries.map(({ id, createdAt, ...entry }) => {
      t.match([id, createdAt], [/^credit_/, /^2/])
      return entry
    })
  const nothing = { metric: null, provider: null, sessionId: null }
  const page = await ledger('limit=1')
  t.same(shown(page), [{ kind: 'adjustment', amountMicroUsd: '-500000', ...nothing }])
  const rest = await ledger(`cursor=${page.nextCursor}`)
  t.same(shown(rest), [{ kind: 'topup', amountMicroUsd: '2500000', ...nothing }])
  t.equal(rest.nextCursor, null)
  t.match(faultOf(await call(poor, 'GET', '/v1/credits/ledger?cursor=x')), { status: 400 })
})

t.test('updatedAt of the balance is the time of its last change, even if an old movement has changed', async (t) => {
  const busy = await admin.organization('with many movements', { creditMicroUsd: 0 })
  const at = (minute: number) => new Date(Date.parse('2026-11-10T10:00:00Z') + minute * 60_000)
  const movement = (id: string, kind: string, minute: number, changedMinute = minute) => sql`
    insert into credit_movements (organization_id, id, kind, micro_usd, day, created_at, updated_at)
    values (${busy.id}, ${`credit_${id}`}, ${kind}, 1, ${kind === 'requests' ? '2026-11-10' : null}, ${at(minute)}, ${at(changedMinute)})`
  await movement('requests_2026-11-10', 'requests', 0, 90)
  for (let minute = 1; minute <= 30; minute++) await movement(`of_minute_${minute}`, 'operator', minute)
  const { updatedAt } = (await call(busy, 'GET', '/v1/credits/balance')).json<{ updatedAt: string }>()
  t.equal(updatedAt, at(90).toISOString(), 'the sum of a day grows behind newer movements')
})

t.test('getUsage returns totals in dollars beside the rows', async (t) => {
  const quiet = await admin.organization('without uses')
  const usage = await call(quiet, 'GET', '/v1/usage?from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z')
  const { total, ...shown } = usage.json<{ total: { costMicroUsd: string } }>()
  t.equal(total.costMicroUsd, '0')
  t.same(shown, {
    ...{ from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z' },
    ...{ groupBy: ['day'], timeZone: 'UTC', rows: [] },
    ...{ totalSessions: 0, totalMinutes: 0, totalCost: 0, breakdown: [], balanceUsd: 100, currency: 'USD' },
  })
})

t.test('voices are listed for the whole catalog, or for one provider by either of its names', async (t) => {
  type Voices = { voices: { vendor: string; id: string }[]; providers: { key: string; models: string[] }[] }
  const list = async (query: string) => (await call(acme, 'GET', `/v1/voices${query}`)).json<Voices>()
  const all = await list('')
  t.ok(all.providers.length > 1, 'providers without a credential are there too')
  const local = await list('?provider=local')
  t.match(local, { providers: [{ key: 'local', name: String, voicesFetchedLive: false }] })
  t.equal(new Set(local.voices.map(({ id }) => id)).size, local.voices.length, 'each voice once')
  t.ok(local.voices.every(({ vendor }) => vendor === 'local'))
  t.same(await list('?provider=local-tts'), local)
  t.same(await list('?provider=nobody'), { voices: [], providers: [] })
})
