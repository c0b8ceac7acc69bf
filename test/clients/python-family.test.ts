/** The hosted product's Python SDK runs unchanged against a server with the setting `clients: family`. */
import t from 'tap'
import type { Tenant } from '../../domain/records/organization.ts'
import { callbackOf, hourMs, promised } from '../callbacks/callback.ts'
import { type Administration, call, openAdministration } from '../platform/setup.ts'
import { stubText } from '../providers/stub-openai.ts'
import type { Target } from '../router/requests.ts'
import type { TestServer } from '../server.ts'
import { spoken } from '../speech/fixtures.ts'
import { words } from '../speech/words.ts'
import { startEventReceiver } from './event-receiver.ts'
import { pythonEnvironment } from './python/environment.ts'
import { type Outcomes, startSetup } from './setup.ts'

t.setTimeout(400_000)
const { python, missing } = await pythonEnvironment('family.txt')

/** The expected value for each step, except the recording, whose words differ. */
const expected: Readonly<Record<string, unknown>> = {
  transcribeStream: { types: ['done', 'meta', 'transcript'], same: true },
  synthesize: { hasAudio: true, type: 'audio/pcm;rate=24000', provider: 'local', model: 'flite' },
  synthesizeStream: { provider: 'local', same: true },
  complete: { text: stubText, tokens: 9 },
  completeStream: { types: ['delta', 'done', 'meta'], text: stubText },
  createAgent: {
    name: 'Front desk',
    intent: { language: 'en', optimizeFor: 'latency' },
    tts: ['local'],
    clips: ['office-ambience', 'keyboard-typing'],
    refs: ['secret', 'secret', 'secret'],
    extractionFields: [],
  },
  listAgents: ['Front desk'],
  updateAgent: [{ name: 'topic', type: 'string', description: 'What it was about.' }],
  webhookTool: { kind: 'webhook', ref: 'secret', speech: ['auto', 'never'] },
  otherTools: ['find_order', 'hang_up', 'show_map'],
  chatTools: stubText,
  numbers: { count: 1, nextCharge: true, label: 'Desk' },
  detach: { alone: 'outbound', again: 'both', inbound: true },
  buy: { direction: 'outbound', released: true },
  importNumber: { source: 'sip_trunk', direction: 'outbound', detection: 'text' },
  kyb: { status: 'approved', submission: 'not_queued' },
  submitKyb: { drafts: ['draft', 'draft'], same: true, submitted: 'submitted', person: 'Dana Reed' },
  webhooks: { mode: 'full', listed: 1, same: true },
  dial: 'dialing',
  follow: { kinds: ['end', 'event', 'status', 'transcript'], hasTurns: true },
  finished: {
    ...{ status: 'completed', report: true, cost: '0', lines: ['0'], finalized: '0', hasEvents: true },
    ...{ end: 'already_ended', listed: true },
  },
  recordedCall: true,
  deliveries: { event: 'call.status', bodies: ['call.status'], delivered: true, rich: [] },
  warmTransfers: {
    ...{ joined: true, warm: 'requested', cancelled: ['cancelled', 'Nobody came.'], fallback: '' },
    ...{ screening: true, completed: [true, 'She takes it.'], end: 'ending' },
  },
  blindTransfer: { kind: 'blind', to: '+15005550002', end: 'ending' },
  callbacks: { scheduled: 2, cancelled: 'cancelled', dispatched: ['dispatched', 'dispatched'] },
  // Sources: two callbacks, three calls, and a placed callback.
  usage: { sessions: 6, currency: 'USD', minutes: true, sources: ['MANAGED'] },
  credits: { currency: 'USD', entries: 1, more: true },
  voices: { vendors: ['local'], more: true },
  asynchronously: {
    ...{ spoken: true, completed: stubText, speech: true, call: 'completed' },
    ...{ lists: [1, 1, true], currency: 'USD', more: ['connect_realtime'] },
  },
  deleteAgent: { tool: true, agent: true, webhooks: [] },
  notCalled: { notCalled: [], hasMany: true, unknown: [] },
}

// `missing` is the reason why the package could not be installed.
if (missing) t.test('the Python SDK of the hosted product is skipped', { skip: missing }, () => {})
else {
  const receiver = await startEventReceiver()
  t.teardown(() => receiver.close())
  const settings = {
    PARLEY_CLIENTS: 'family',
    PARLEY_KYB_REVIEW: 'operator',
    PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  }
  const setup = await startSetup(t, ['stub'], settings)
  const outcomes = await setup.run(python, ['python/with-family.py'], {
    PARLEY_RECEIVER: receiver.url,
    ...(await thingsOutsideTheSdk(setup.parley)),
  })
  t.test('every method of the Python SDK works if this server has its resource', (t) => {
    expectFamily(t, outcomes)
    t.end()
  })
}

/**
 * Makes an organization without a verified business, a SIP connection, and two promised callbacks. The SDK has no
 * method to make these.
 */
async function thingsOutsideTheSdk(parley: TestServer) {
  const admin = await openAdministration(parley)
  const applicant = await admin.organization('applicant')
  const trunk = { name: 'desk', outbound: { host: 'sip.example' } }
  const connection = await call(parley, 'POST', '/v1/phone-numbers/sip-connections', trunk)
  const organization = await call(parley, 'GET', '/v1/organization')
  const tenant = { organizationId: organization.json<{ id: string }>().id, test: false }
  const [toCancel, toMake] = [await promise(parley, admin, tenant), await promise(parley, admin, tenant)]
  await admin.close()
  return {
    PARLEY_APPLICANT_KEY: applicant.key,
    PARLEY_CONNECTION: connection.json<{ id: string }>().id,
    PARLEY_CALLBACK_TO_CANCEL: toCancel,
    PARLEY_CALLBACK_TO_MAKE: toMake,
  }
}

/** Promises a callback in a new session, and returns its id. */
async function promise(parley: Target, admin: Administration, tenant: Tenant): Promise<string> {
  const session = await call(parley, 'POST', '/v1/sessions', { intent: { language: 'en' } })
  const source = await admin.store.calls.find(tenant, session.json<{ sessionId: string }>().sessionId)
  if (source === null) throw new Error('no session')
  const callback = callbackOf(source, { toNumber: '+15005550011', nextTryAtMs: Date.now() + hourMs })
  const refused = await admin.store.calls.append(tenant, source.id, [promised(callback)])
  if (refused.length > 0) throw new Error('the callback was not stored')
  return callback.id
}

type Comparison = (found: unknown, wanted: unknown, name: string) => unknown

function expectFamily(t: { same: Comparison; equal: Comparison }, outcomes: Outcomes) {
  const { transcribe, ...others } = outcomes
  t.same(words(String(transcribe?.value)), words(spoken['privacy-prompt']), 'transcribe')
  t.same(Object.keys(others), Object.keys(expected), 'all steps')
  for (const [step, { value, error }] of Object.entries(others)) {
    t.equal(error, undefined, `${step}: ${error?.message}`)
    t.same(value, expected[step], step)
  }
}
