/** The Python SDK of the hosted product, unchanged, against a server with the setting `clients: family`. */
import t from 'tap'
import { stubText } from '../providers/stub-openai.ts'
import { spoken } from '../speech/fixtures.ts'
import { words } from '../speech/words.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { pythonEnvironment } from './python/environment.ts'
import { type Outcomes, startSetup } from './setup.ts'

t.setTimeout(400_000)
const { python, missing } = await pythonEnvironment('family.txt')

/** The value of each step but that of the recording, whose words differ. */
const expected: Readonly<Record<string, unknown>> = {
  synthesize: { bytes: Number, type: 'audio/pcm;rate=24000', provider: 'local', model: 'flite' },
  complete: { text: stubText, tokens: 9 },
  createAgent: {
    name: 'Front desk',
    intent: { language: 'en', optimizeFor: 'latency' },
    stackPreferences: { allowedProviders: { tts: ['local'] } },
    backgroundAudio: { ambient: { clip: 'office-ambience' }, toolSound: { clip: 'keyboard-typing' } },
    webhooks: { status: { secretRef: String, authHeaders: [{ name: 'x-token', secretRef: String }] } },
    extractionFields: [],
  },
  listAgents: ['Front desk'],
  updateAgent: [{ name: 'topic', type: 'string', description: 'What it was about.' }],
  webhookTool: { name: 'find_order', source: { kind: 'webhook', secretRef: String }, preToolSpeech: 'never' },
  otherTools: ['find_order', 'hang_up', 'show_map'],
  chatTools: stubText,
  numbers: { count: 1, nextChargeAt: /^20/, label: 'Desk' },
  detach: { alone: 'outbound', again: 'both', inbound: true },
  buy: { direction: 'outbound', released: true },
  kyb: { status: 'approved', submission: 'not_queued' },
  dial: 'dialing',
  follow: { kinds: ['end', 'event', 'status', 'transcript'], turns: Number },
  finished: { status: 'completed', report: true, cost: '0', finalized: '0', end: 'already_ended', listed: true },
  transfers: { warm: 'requested', cancelled: 'cancelled', summary: 'Nobody came.', end: 'ending' },
  webhooks: { mode: 'full', listed: 1, same: true },
  deliveries: { event: 'call.status', body: 'call.status', delivered: true },
  usage: { sessions: 3, currency: 'USD', minutes: true },
  credits: { currency: 'USD', entries: 1 },
  voices: { vendors: ['local'], providers: true },
  callbacks: [],
  deleteAgent: true,
}

if (missing) t.test('the Python SDK of the hosted product', { skip: missing }, () => {})
else {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const settings = { PARLEY_CLIENTS: 'family', PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' }
  const setup = await startSetup(t, ['stub'], settings)
  const outcomes = await setup.run(python, ['python/with-family.py'], { PARLEY_RECEIVER: receiver.url })
  t.test('every method whose resource this server has', async (t) => expectFamily(t, outcomes))
}

function expectFamily(t: { match: (found: unknown, wanted: unknown, name: string) => unknown }, outcomes: Outcomes) {
  const { transcribe, ...others } = outcomes
  t.match(words(String(transcribe?.value)), words(spoken['privacy-prompt']), 'transcribe')
  t.match(Object.keys(others), Object.keys(expected), 'all steps')
  for (const [step, { value, error }] of Object.entries(others)) t.match(error ?? value, expected[step], step)
}
