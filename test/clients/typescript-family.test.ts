/**
 * The hosted product's TypeScript SDK runs unchanged against a server with the setting `clients: family`, and each
 * answer has its method's declared type.
 *
 * The package is not in the registry. To run this test, build https://github.com/SpekoAI/typescript-sdk and install it:
 * `npm install --prefix test/clients/family --no-save --no-package-lock FOLDER`.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { stubText } from '../providers/stub-openai.ts'
import { spoken } from '../speech/fixtures.ts'
import { words } from '../speech/words.ts'
import { type Answer, typeErrors } from './family/answer-types.ts'
import { runWithFamily } from './family/setup.ts'
import { here } from './setup.ts'

t.setTimeout(400_000)
const folder = path.join(here, 'family')
const missing = missingSdk()

/** The expected value for each step, except the recording, whose words differ. */
const expected: Readonly<Record<string, unknown>> = {
  transcribeStream: { types: ['done', 'meta', 'transcript'], same: true },
  synthesize: { hasAudio: true, contentType: 'audio/pcm;rate=24000', provider: 'local', model: 'hibari' },
  synthesizeStream: { provider: 'local', same: true },
  complete: { text: stubText, tokens: 9 },
  completeStream: { types: ['delta', 'done', 'meta'], text: stubText },
  createAgent: {
    name: 'Front desk',
    intent: { language: 'en', optimizeFor: 'latency' },
    refs: ['secret', 'secret', 'secret'],
  },
  listAgents: ['Front desk'],
  updateAgent: { temperature: 0.5 },
  tools: { ref: 'secret', speech: ['auto', 'never'], names: ['find_order', 'show_map'], text: stubText },
  numbers: { count: 1, nextCharge: true, label: 'Desk' },
  detach: { alone: 'outbound', again: 'both', inbound: true },
  buy: { direction: 'outbound', released: true },
  importNumber: { source: 'sip_trunk', direction: 'outbound' },
  kyb: { status: 'approved', drafts: ['draft', 'draft'], submitted: 'submitted', person: 'Dana Reed' },
  webhooks: { timeoutMs: 5000, listed: 1 },
  dial: 'dialing',
  follow: { types: ['end', 'event', 'status', 'transcript'], hasTurns: true },
  finished: {
    ...{ status: 'completed', report: true, costs: ['0', '0'], hasEvents: true },
    ...{ end: 'already_ended', listed: [true] },
  },
  recordedCall: true,
  deliveries: { event: 'call.status', bodies: ['call.status'], delivered: true, rich: [] },
  warmTransfers: {
    ...{ joined: true, cancelled: ['cancelled', 'Nobody came.', ''] },
    ...{ completed: [true, 'She takes it.'], end: 'ending' },
  },
  blindTransfer: { kind: 'blind', to: '+15005550002', end: 'ending' },
  callbacks: { scheduled: 2, cancelled: 'cancelled', dispatched: ['dispatched', 'dispatched'] },
  // The six counted sessions: two sessions promise a callback, three are calls, and one is a placed callback.
  money: { currency: 'USD', totalSessions: 6, minutes: true, balance: 'USD', rows: 1 },
  voices: { vendors: ['local'], more: true },
  deleteAgent: { tool: { deleted: true }, agent: { deleted: true }, webhooks: [] },
  notCalled: { notCalled: [], hasMany: true },
}

if (missing)
  t.test(
    "the tests with the hosted product's TypeScript SDK are skipped if the SDK cannot be installed",
    { skip: missing },
    () => {},
  )
else {
  const file = path.join(t.testdir(), 'answers.json')
  const outcomes = await runWithFamily(t, process.execPath, ['family/with-family.mjs'], { PARLEY_ANSWERS: file })
  t.test("every method of the TypeScript SDK works if the server implements the method's resource", (t) => {
    const { transcribe, ...others } = outcomes
    t.same(words(String(transcribe?.value)), words(spoken['privacy-prompt']), 'transcribe')
    t.same(Object.keys(others), Object.keys(expected), 'all steps')
    for (const [step, { value, error }] of Object.entries(others)) {
      t.equal(error, undefined, `${step}: ${error?.message}`)
      t.same(value, expected[step], step)
    }
    t.end()
  })
  t.test("every response has the type that the hosted product's SDK declares for its method", (t) => {
    t.same(typeErrors(folder, (JSON.parse(readFileSync(file, 'utf8')) as Answer[]).map(withUnknown)), [])
    const wrong = typeErrors(folder, [{ method: 'credits.getBalance', answer: { balanceUsd: null } }])
    t.equal(wrong.length, 1, 'a wrong answer is found')
    t.end()
  })
}

/** Adds the required values that this server does not know: docs/moving.md names them. */
function withUnknown({ method, answer }: Answer): Answer {
  if (method === 'transcribeStream') return { method, answer: { confidence: 0, ...(answer as object) } }
  if (method !== 'usage.get') return { method, answer }
  const { breakdown, ...summary } = answer as { breakdown: object[] }
  return { method, answer: { ...summary, breakdown: breakdown.map((line) => ({ type: 'stt', ...line })) } }
}

/**
 * Returns null, or the reason why the SDK is absent. It is not installed here: the registry has no such package, so
 * anybody could publish one under this name.
 */
function missingSdk(): string | null {
  const wanted = packageOf('.').dependencies?.['@spekoai/sdk']
  const { version } = packageOf('node_modules/@spekoai/sdk')
  return version === wanted ? null : `install @spekoai/sdk ${wanted} (the head of this file says how)`
}

type Package = { version?: string; dependencies?: Record<string, string> }

function packageOf(place: string): Package {
  try {
    return JSON.parse(readFileSync(path.join(folder, place, 'package.json'), 'utf8')) as Package
  } catch {
    return {}
  }
}
