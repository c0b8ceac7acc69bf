/** Tests values at and beyond the limits of transfer requests, and the order of refusals, without a phone. */
import t from 'tap'
import type { Call } from '../../domain/records/call.ts'
import { newCall } from '../calls/call.ts'
import type { Target } from '../router/requests.ts'
import { transferOf, transferred } from '../transfers/transfer.ts'
import { unknown } from './isolation-table.ts'
import { call, faultOf, startAdministered } from './setup.ts'

const { admin } = await startAdministered(t)

const to = '+15005550006'
const large = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })
const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) })
const named = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at): [string, string] => [`X-Order-${at}`, 'v']))
const many = (count: number) => Array.from({ length: count }, () => ({ to }))

/** The refused field's path, an accepted body and a refused body. */
type Border = [path: string, taken: object, refused: object]

const ringing: Border[] = [
  ['/ringingTimeout', { ringingTimeout: 1 }, { ringingTimeout: 0 }],
  ['/ringingTimeout', { ringingTimeout: 120 }, { ringingTimeout: 121 }],
  ['/ringingTimeout', { ringingTimeout: null }, { ringingTimeout: 1.5 }],
]
const shared: Border[] = [
  ...ringing,
  ['/to', { to }, { to: '+15550001111' }],
  ['/to', { to: '+4930901820' }, { to: '030901820' }],
  ['/metadata', { metadata: large(16_384) }, { metadata: large(16_385) }],
  ['/metadata', { metadata: deep(8) }, { metadata: deep(9) }],
  ['/participantIdentity', { participantIdentity: 'p'.repeat(128) }, { participantIdentity: 'p'.repeat(129) }],
  ['/waitUntilAnswered', {}, { waitUntilAnswered: true }],
  ['/outboundTrunkId', {}, { outboundTrunkId: 'sip_1' }],
]
const header = (name: string, value = 'v'): object => ({ headers: { [name]: value } })
const blind: Border[] = [
  ...shared,
  ['/headers', { headers: named(16) }, { headers: named(17) }],
  ['/headers', header(`X-${'a'.repeat(62)}`), header(`X-${'a'.repeat(63)}`)],
  ['/headers', header('x-order'), header('X-')],
  ['/headers', header('User-to-User'), header('User-to-User2')],
  ['/headers', header('user-to-user'), header('Via')],
  ['/headers', header('X-A-1'), header('X-A:1')],
  ['/headers/X-A', header('X-A', 'v'.repeat(256)), header('X-A', 'v'.repeat(257))],
  ['/headers/X-A', header('X-A', ''), header('X-A', 'v\r\nVia: SIP/2.0/UDP thief.example')],
  ['/headers/X-A', header('X-A', '~ a;b="c"'), header('X-A', 'é')],
  ['/playDialtone', { playDialtone: true }, { playDialtone: 'yes' }],
  ['/destinations', {}, { destinations: many(1) }],
  ['/from', {}, { from: to }],
  ['/screeningTimeout', {}, { screeningTimeout: 20 }],
]
const only = (destinations: object[]) => ({ to: null, destinations })
const one = (more: object) => only([{ to, ...more }])
const fallback = (more: object) => ({ fallback: more })
const detection = (more: object) => ({ voicemailDetection: more })
const warm: Border[] = [
  ...shared,
  ['/destinations', { to }, { to: null }],
  ['/destinations', only(many(1)), { destinations: many(1) }],
  ['/destinations', only(many(10)), only(many(11))],
  ['/destinations', only(many(1)), only([])],
  ['/destinations/0/to', one({}), one({ to: '+15550001111' })],
  ['/destinations/0/label', one({ label: '😀'.repeat(120) }), one({ label: 'l'.repeat(121) })],
  [
    '/destinations/0/screeningPrompt',
    one({ screeningPrompt: 's'.repeat(2000) }),
    one({ screeningPrompt: 's'.repeat(2001) }),
  ],
  ['/destinations/0/summary', one({ summary: 's'.repeat(4000) }), one({ summary: 's'.repeat(4001) })],
  ['/destinations/0/metadata', one({ metadata: large(16_384) }), one({ metadata: large(16_385) })],
  ['/screeningPrompt', { screeningPrompt: '😀'.repeat(2000) }, { screeningPrompt: 's'.repeat(2001) }],
  ['/summary', { summary: '😀'.repeat(4000) }, { summary: 's'.repeat(4001) }],
  ['/screeningTimeout', { screeningTimeout: 5 }, { screeningTimeout: 4 }],
  ['/screeningTimeout', { screeningTimeout: 120 }, { screeningTimeout: 121 }],
  ['/fallback/strategy', fallback({ strategy: 'take_message' }), fallback({ strategy: 'voicemail' })],
  ['/fallback/strategy', fallback({ strategy: 'end_call' }), fallback({ strategy: '' })],
  ['/fallback/message', fallback({ message: '😀'.repeat(1000) }), fallback({ message: 'm'.repeat(1001) })],
  [
    '/fallback/takeMessagePrompt',
    fallback({ takeMessagePrompt: '😀'.repeat(2000) }),
    fallback({ takeMessagePrompt: 'm'.repeat(2001) }),
  ],
  [
    '/fallback/holdAudioUrl',
    fallback({ holdAudioUrl: 'https://shop.example/a.wav' }),
    fallback({ holdAudioUrl: 'http://shop.example/a.wav' }),
  ],
  [
    '/fallback/holdAudioUrl',
    fallback({ holdAudioUrl: null }),
    fallback({ holdAudioUrl: 'https://user:secret@shop.example/a.wav' }),
  ],
  ['/fallback/holdAudioUrl', fallback({}), fallback({ holdAudioUrl: 'https://[::1]/a.wav' })],
  ['/voicemailDetection/timeoutSeconds', detection({ timeoutSeconds: 1 }), detection({ timeoutSeconds: 0 })],
  ['/voicemailDetection/timeoutSeconds', detection({ timeoutSeconds: 60 }), detection({ timeoutSeconds: 61 })],
  ['/voicemailDetection/mode', detection({ mode: 'amd' }), detection({ mode: 'premium' })],
  ['/headers', {}, { headers: {} }],
  ['/playDialtone', {}, { playDialtone: true }],
]
const summaries: Border[] = [
  ['/summary', { summary: '😀'.repeat(4000) }, { summary: 's'.repeat(4001) }],
  ['/summary', { summary: null }, { summary: 1 }],
]
const complete: Border[] = [
  [
    '/recipientParticipantIdentity',
    { recipientParticipantIdentity: 'r'.repeat(128) },
    { recipientParticipantIdentity: 'r'.repeat(129) },
  ],
  ...summaries,
]
const cancel: Border[] = [
  ...summaries,
  ['/reason', { reason: '😀'.repeat(500) }, { reason: 'r'.repeat(501) }],
  ['/tryNext', { tryNext: true }, { tryNext: 'yes' }],
  ['/voicemailDetected', { voicemailDetected: true }, { voicemailDetected: 1 }],
]

const transfer = (target: Target, id: string, action: string, body: object) =>
  call(target, 'POST', `/v1/calls/${id}/transfers/${action}`, body)

for (const [action, usual, borders] of [
  ['blind', { to }, blind],
  ['warm', { to }, warm],
  [`${unknown.transfer}/complete`, {}, complete],
  [`${unknown.transfer}/cancel`, {}, cancel],
] as const)
  t.test(`${action}: each field is accepted at its limit and refused beyond its limit`, async (t) => {
    const acme = await admin.organization(`borders of ${action}`)
    for (const [path, taken, refused] of borders) {
      const title = `${path} ${JSON.stringify(refused).slice(0, 60)}`
      // The fields are checked before the call is looked up, so a valid body gets 404 for an unknown call.
      const yes = await transfer(acme, unknown.call, action, { ...usual, ...taken })
      t.same(faultOf(yes), { status: 404, code: 'NOT_FOUND' }, `${title} ${yes.text.slice(0, 300)}`)
      const no = faultOf(await transfer(acme, unknown.call, action, { ...usual, ...refused }))
      t.match(no, { status: 400, code: 'VALIDATION_ERROR' }, title)
      t.ok(
        no.paths?.every((each) => each.startsWith(path)),
        `${title} ${no.paths?.join()}`,
      )
    }
  })

const phone = {
  direction: 'inbound',
  from: '+15005550006',
  to: '+15005550100',
  forwardedFrom: null,
  phoneNumberId: 'pn_0123456789012345678901',
  legId: 'leg_0123456789012345678901',
} as const

t.test('a transfer is refused if the call is not live, or participantIdentity is not the caller', async (t) => {
  const acme = await admin.organization('refusals of transfers')
  const stored = async (more: Partial<Call>) => {
    const made = newCall(acme.id, { phone, ...more })
    await admin.store.calls.insert(made, {})
    return made
  }
  const notLive = { status: 409, code: 'CALL_NOT_LIVE' }
  for (const [status, fault] of [
    ['queued', notLive],
    ['dialing', notLive],
    ['ringing', notLive],
    ['transferring', { status: 409, code: 'TRANSFER_IN_PROGRESS' }],
    ['completed', notLive],
    ['failed', notLive],
    ['voicemail', notLive],
  ] as const) {
    const { id } = await stored({ status })
    for (const kind of ['blind', 'warm']) t.same(faultOf(await transfer(acme, id, kind, { to })), fault, status)
  }
  const live = await stored({ status: 'in_progress' })
  for (const kind of ['blind', 'warm']) {
    const other = await transfer(acme, live.id, kind, { to, participantIdentity: 'somebody' })
    t.same(faultOf(other), { status: 400, code: 'VALIDATION_ERROR', paths: ['/participantIdentity'] })
    // No process has this call, so even a valid transfer is refused.
    const own = await transfer(acme, live.id, kind, { to, participantIdentity: live.identity })
    t.same(faultOf(own), notLive)
  }
})

t.test('a transfer without credit is answered 402, unless the request is refused for another reason', async (t) => {
  const poor = await admin.organization('without credit for transfers', { creditMicroUsd: 0 })
  const live = newCall(poor.id, { phone, status: 'in_progress' })
  const browser = newCall(poor.id, { status: 'in_progress' })
  for (const each of [live, browser]) await admin.store.calls.insert(each, {})
  for (const kind of ['blind', 'warm']) {
    t.same(faultOf(await transfer(poor, live.id, kind, { to })), { status: 402, code: 'INSUFFICIENT_CREDITS' })
    t.match(faultOf(await transfer(poor, live.id, kind, { to, participantIdentity: 'x' })), { status: 400 })
    t.same(faultOf(await transfer(poor, browser.id, kind, { to })), { status: 409, code: 'TRANSFER_UNSUPPORTED' })
  }
})

t.test("a transfer id with another call's id in the path is answered 404", async (t) => {
  const acme = await admin.organization('two calls')
  const [one, other] = [newCall(acme.id, { phone }), newCall(acme.id, { phone })]
  for (const each of [one, other]) await admin.store.calls.insert(each, {})
  const own = transferOf(one)
  t.same(await admin.store.calls.append(one, one.id, [transferred(own)]), [])
  for (const action of ['complete', 'cancel']) {
    const ofOther = await transfer(acme, other.id, `${own.id}/${action}`, {})
    t.same(faultOf(ofOther), { status: 404, code: 'NOT_FOUND' })
    t.match(ofOther.json<{ error: string }>().error, 'There is no transfer of this id here.')
    const ofNone = await transfer(acme, unknown.call, `${own.id}/${action}`, {})
    t.match(ofNone.json<{ error: string }>().error, 'There is no call of this id here.')
    t.match(faultOf(await transfer(acme, one.id, `${own.id}/${action}`, {})), { code: 'TRANSFER_STATE_CONFLICT' })
  }
})
