/** A phone call accepts the settings for browser sessions, except for browser-only settings. */
import t from 'tap'
import { call, faultOf, startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { insertNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())
const acme = await admin.organization('with calls of many fields')
await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+12125551000' })

/** The carrier refuses this number, so no leg exists. The stored call still shows the request's settings. */
const to = '+15005550001'
const intent = { language: 'en' }
const dial = (more: object) => call(acme, 'POST', '/v1/sessions/phone', { to, intent, ...more })

const settings = {
  firstMessage: 'Hello.',
  firstMessageMode: 'message',
  turnHandling: { profile: 'ivr_patient', interruption: { mode: 'none' } },
  backgroundAudio: { ambient: { clip: 'city-ambience', volume: 0.5 } },
  speechNormalization: { textReplacements: { asap: 'as soon as possible' } },
  idleRePrompts: { enabled: true, delayMs: 3000, maxPrompts: 1, messages: ['Still there, {{ name }}?'] },
  silenceTimeoutSeconds: 20,
  endCallMessage: 'Goodbye, {{ name }}.',
  fallbackMessage: 'One moment.',
  maxToolHops: 2,
  timezone: 'Europe/Berlin',
  recording: false,
}

t.test('a phone call without an agent uses every setting of its request', async (t) => {
  const refused = await dial({ ...settings, variables: { name: 'Ada' } })
  t.match(faultOf(refused), { status: 502, code: 'CARRIER_DIAL_FAILED' }, refused.text)
  const { sessionId } = refused.json<{ details: { sessionId: string } }>().details
  const session = (await call(acme, 'GET', `/v1/sessions/${sessionId}`)).json<{ pipelineConfig: object }>()
  t.match(session.pipelineConfig, {
    ...settings,
    idleRePrompts: { messages: ['Still there, Ada?'] },
    endCallMessage: 'Goodbye, Ada.',
    turnHandling: { profile: 'ivr_patient', endpointing: { minDelay: 1500, maxDelay: 10_000 } },
  })
})

t.test("the request's fields win over the agent's fields", async (t) => {
  const agent = {
    ...{ name: 'Desk', systemPrompt: 'of the agent', intent, voice: 'nova', firstMessage: 'of the agent' },
    ...{ llmOptions: { temperature: 0.5, maxTokens: 100 }, ttsOptions: { sampleRate: 8000 }, timezone: 'UTC' },
  }
  const { id: agentId } = (await call(acme, 'POST', '/v1/agents', agent)).json<{ id: string }>()
  const own = {
    ...{ systemPrompt: 'of the call', voice: 'alloy', firstMessage: 'of the call', sttOptions: { language: 'en' } },
    ...{ ttsOptions: { sampleRate: 16_000 }, constraints: { allowedProviders: { llm: ['local'] } } },
    intent: { language: 'en-US', optimizeFor: 'cost' },
  }
  const more = { llm: { maxTokens: 200 }, metadata: { order: '4711' }, webhookTags: { team: 'shop' } }
  const refused = await dial({ agentId, ...own, ...more })
  t.match(faultOf(refused), { status: 502, code: 'CARRIER_DIAL_FAILED' }, refused.text)
  const { sessionId } = refused.json<{ details: { sessionId: string } }>().details
  t.match((await call(acme, 'GET', `/v1/sessions/${sessionId}`)).json(), {
    agentId,
    metadata: { order: '4711' },
    webhookTags: { team: 'shop' },
    pipelineConfig: { ...own, llm: { temperature: 0.5, maxTokens: 200 }, timezone: 'UTC' },
  })
})

t.test('the contract has the same fields for phone and browser sessions, except browser-only fields', async (t) => {
  const document = (await call(acme, 'GET', '/openapi/platform.json')).json<Document>()
  const fieldsOf = (name: string) => Object.keys(document.components.schemas[name]?.properties ?? {})
  const ofPhone = fieldsOf('NewPhoneSession')
  const ofBrowser = fieldsOf('NewSession')
  t.same(
    ofBrowser.filter((name) => !ofPhone.includes(name)),
    ['clientOverrides', 'identity', 'transport', 'ttlSeconds'],
  )
  t.same(
    ofPhone.filter((name) => !ofBrowser.includes(name)),
    ['to', 'from', 'telephony', 'toolSecrets', 'endCall'],
    'the last two are for the published SDK, which sends them',
  )
})

t.test('a phone session refuses browser-only fields by name, and values beyond their limits', async (t) => {
  const wrong: [path: string, body: object][] = [
    ['/identity', { identity: 'visitor' }],
    ['/transport', { transport: 'websocket' }],
    ['/ttlSeconds', { ttlSeconds: 60 }],
    ['/clientOverrides', { clientOverrides: ['speed'] }],
    ['/turnHandling/profile', { turnHandling: { profile: 'patient' } }],
    ['/turnHandling/endpointing/maxDelay', { turnHandling: { endpointing: { minDelay: 400, maxDelay: 300 } } }],
    ['/firstMessageMode', { firstMessageMode: 'message' }],
    ['/timezone', { timezone: 'Mars/Base' }],
    ['/silenceTimeoutSeconds', { silenceTimeoutSeconds: 4 }],
    ['/idleRePrompts/messages/0', { idleRePrompts: { messages: ['{{ broken'] } }],
  ]
  for (const [path, body] of wrong)
    t.same(faultOf(await dial(body)), { status: 400, code: 'VALIDATION_ERROR', paths: [path] })
})

type Document = { components: { schemas: Record<string, { properties: object }> } }
