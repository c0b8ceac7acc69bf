/** The hosted product's Python SDK runs unchanged against a server with the setting `clients: family`. */
import t from 'tap'
import { stubText } from '../providers/stub-openai.ts'
import { spoken } from '../speech/fixtures.ts'
import { words } from '../speech/words.ts'
import { runWithFamily } from './family/setup.ts'
import { pythonEnvironment } from './python/environment.ts'
import type { Outcomes } from './setup.ts'

t.setTimeout(400_000)
const { python, missing } = await pythonEnvironment('family.txt')

/** The expected value for each step, except the recording, whose words differ. */
const expected: Readonly<Record<string, unknown>> = {
  transcribeStream: { types: ['done', 'meta', 'transcript'], same: true },
  synthesize: { hasAudio: true, type: 'audio/pcm;rate=24000', provider: 'local', model: 'hibari' },
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
  // The six counted sessions: two sessions promise a callback, three are calls, and one is a placed callback.
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
if (missing)
  t.test(
    "the tests with the hosted product's Python SDK are skipped if the SDK cannot be installed",
    { skip: missing },
    () => {},
  )
else {
  const outcomes = await runWithFamily(t, python, ['python/with-family.py'])
  t.test("every method of the Python SDK works if the server implements the method's resource", (t) => {
    expectFamily(t, outcomes)
    t.end()
  })
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
