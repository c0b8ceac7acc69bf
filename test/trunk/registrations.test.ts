/** Registrations at trunks: made, kept fresh and removed, and their inbound calls. */
import t, { type Test } from 'tap'
import type { SipConnection } from '../../domain/ports/sip-connections.ts'
import { valueOf } from '../../providers/trunk/message.ts'
import { recordOf } from '../../providers/trunk/outbound-names.ts'
import { openTrunk, outgoingTo, type TrunkSetup } from './setup.ts'
import { quiet, type SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'

const login = { username: 'desk', password: 'open sesame' }

/** Opens a SIP trunk line with a single connection, which registers a login. */
async function registering(t: Test, more: Partial<TrunkSetup> = {}, addressing: Parameters<typeof outgoingTo>[1] = {}) {
  let connections: SipConnection[] = []
  const trunk = await openTrunk(t, { known: [], outgoing: () => connections, ...more })
  const far = await trunk.peer()
  const connection = {
    ...outgoingTo(far.port, { register: true, ...login, ...addressing }),
    inbound: { username: null, password: null },
  }
  connections = [connection]
  // When the trunk line was opened, it found no registrations, so the test waits for the next look-up.
  await trunk.clock.advance(10_000)
  const change = (changed: SipConnection[]) => (connections = changed)
  return { trunk, far, connection, change }
}

/** A repeated request has the same branch, so each try has a different branch. */
const triesOf = (far: SipPeer) => new Set(far.requests('REGISTER').map(({ via }) => via.branch)).size

const headersOf = async (far: SipPeer, number: number) => {
  const request = await far.request('REGISTER', number)
  return { request, value: (name: string) => valueOf(request.headers, name) ?? '' }
}

t.test(
  "a registration answers the trunk's challenge with its password, and is refreshed after half of its expiry time",
  async (t) => {
    const { trunk, far } = await registering(t)
    const first = await headersOf(far, 1)
    t.equal(first.request.uri, 'sip:trunk.test')
    t.match(first.request.from.uri, 'sip:desk@trunk.test')
    t.match(first.request.to, { uri: 'sip:desk@trunk.test', tag: null })
    t.match(first.value('contact'), /^<sip:parley-[0-9a-f]{20}@127\.0\.0\.1:\d+>;expires=600$/)
    t.equal(first.value('expires'), '600')
    far.respond(first.request, 401, { headers: ['WWW-Authenticate: Digest realm="r", nonce="n1", qop="auth"'] })
    const second = await headersOf(far, 2)
    t.match(second.value('authorization'), /username="desk".*uri="sip:trunk\.test"/)
    t.equal(second.request.callId, first.request.callId)
    t.equal(second.request.cseq.number, first.request.cseq.number + 1)
    far.respond(second.request, 200, {
      headers: [
        'Contact: <sip:other@192.0.2.7>;expires=30',
        `Contact: ${second.value('contact').replace('600', '120')}`,
      ],
    })
    await wanted(() => trunk.registered.length === 1, 'the look')
    t.same(trunk.registered, [['sip_out', true]])
    await trunk.clock.advance(59_000)
    await quiet()
    t.equal(far.requests('REGISTER').length, 2)
    await trunk.clock.advance(1_000)
    const third = await headersOf(far, 3)
    t.equal(third.request.callId, first.request.callId)
    t.equal(third.request.cseq.number, first.request.cseq.number + 2)
    far.respond(third.request, 200, { headers: ['Expires: 60'] })
    await wanted(() => trunk.registered.length === 2, 'the second look')
    await trunk.clock.advance(30_000)
    await headersOf(far, 4)
  },
)

t.test('if a trunk answers REGISTER with 423, the expiry time from Min-Expires is used', async (t) => {
  const { far } = await registering(t)
  far.respond((await headersOf(far, 1)).request, 423, { headers: ['Min-Expires: 3600'] })
  const longer = await headersOf(far, 2)
  t.equal(longer.value('expires'), '3600')
})

for (const [name, answer] of [
  ['a refusal', 403],
  ['a time that is too brief, without a better one', 423],
  ['silence', null],
] as const)
  t.test(`after ${name} REGISTER is retried in a minute, and then after two minutes`, async (t) => {
    const { trunk, far } = await registering(t)
    // A repeated request has the same branch, so each try has a different branch.
    const tries = () => new Set(far.requests('REGISTER').map(({ via }) => via.branch)).size
    const refused = async (number: number) => {
      await wanted(() => tries() === number, `try ${number}`)
      if (answer === null) return await trunk.clock.advance(32_000)
      far.respond(far.requests('REGISTER').at(-1)!, answer)
      await wanted(() => trunk.registered.length === number, 'the look')
    }
    await refused(1)
    await trunk.clock.advance(59_999)
    await quiet()
    t.equal(tries(), 1)
    await trunk.clock.advance(1)
    await refused(2)
    await trunk.clock.advance(119_999)
    await quiet()
    t.equal(tries(), 2)
    await trunk.clock.advance(1)
    await wanted(() => tries() === 3, 'try 3')
    t.ok(trunk.registered.every(([, isTaken]) => !isTaken))
  })

for (const [name, answer] of [
  ['503', 503],
  ['a wrong login', 403],
  ['a time that is too brief', 423],
  ['silence', null],
] as const)
  t.test(
    `inbound calls are accepted after a refresh failed by ${name}, until the registration has expired`,
    async (t) => {
      const { trunk, far } = await registering(t)
      far.respond((await headersOf(far, 1)).request, 200, { headers: ['Expires: 200'] })
      await wanted(() => trunk.registered.length === 1, 'the look')
      const tries = () => new Set(far.requests('REGISTER').map(({ via }) => via.branch)).size
      const failed = async (number: number) => {
        await wanted(() => tries() === number, `try ${number}`)
        if (answer === null) return await trunk.clock.advance(32_000)
        const { length } = trunk.registered
        far.respond(far.requests('REGISTER').at(-1)!, answer)
        await wanted(() => trunk.registered.length > length, `look ${number}`)
      }
      await trunk.clock.advance(100_000)
      await failed(2)
      const call = { headers: [sdpType, `User-Agent: ${'trunk '.repeat(60)}`], body: sdp() }
      far.send('INVITE', { callId: 'call-1', ...call })
      t.match(await trunk.event('initiated'), { connectionId: 'sip_out' })
      // The next try comes after half of the time until the registration expires.
      await trunk.clock.advance(answer === null ? 34_000 : 50_000)
      await failed(3)
      await trunk.clock.advance(50_000)
      far.send('INVITE', { callId: 'call-2', ...call })
      await far.response(401)
      t.equal(trunk.types().filter((type) => type === 'initiated').length, 1)
    },
  )

t.test('a registration is retried after a failed refresh, and removed when the server stops', async (t) => {
  const { trunk, far } = await registering(t)
  const answered = async (number: number, code: number) => {
    const { request } = await headersOf(far, number)
    const { length } = trunk.registered
    far.respond(request, code)
    await wanted(() => trunk.registered.length > length, `look ${number}`)
  }
  await answered(1, 200)
  await trunk.clock.advance(300_000)
  for (const number of [2, 3, 4]) {
    await answered(number, 503)
    await trunk.clock.advance(60_000)
  }
  await answered(5, 200)
  await trunk.clock.advance(300_000)
  await answered(6, 503)
  await trunk.line.close()
  t.equal((await headersOf(far, 7)).value('expires'), '0')
})

for (const [name, answer, fields] of [
  ['a wrong login', 403, { code: 403, message: 'a trunk refuses the registration' }],
  ['503', 503, { code: 503, message: 'a trunk refuses the registration' }],
  ['silence', null, { message: 'a trunk does not answer the registration' }],
] as const)
  t.test(`the log names ${name} once, until the trunk accepts the registration`, async (t) => {
    const { trunk, far } = await registering(t)
    const refused = async (number: number) => {
      await wanted(() => triesOf(far) === number, `try ${number}`)
      if (answer === null) await trunk.clock.advance(32_000)
      else far.respond(far.requests('REGISTER').at(-1)!, answer)
      await wanted(() => trunk.registered.length === number, `refusal ${number}`)
    }
    const warnings = () => trunk.warned.filter((warning) => /registration/.test(JSON.stringify(warning)))
    await refused(1)
    await trunk.clock.advance(60_000)
    await refused(2)
    t.same(warnings(), [{ connectionId: 'sip_out', ...fields }])
    await trunk.clock.advance(120_000)
    await wanted(() => triesOf(far) === 3, 'try 3')
    far.respond(far.requests('REGISTER').at(-1)!, 200)
    await wanted(() => trunk.registered.length === 3, 'the registration')
    await trunk.clock.advance(300_000)
    await refused(4)
    t.equal(warnings().length, 2)
  })

t.test('a trunk with a registration gets no OPTIONS, because it may ignore them', async (t) => {
  const { trunk, far } = await registering(t)
  far.respond((await headersOf(far, 1)).request, 200)
  await wanted(() => trunk.registered.length === 1, 'the registration')
  await trunk.clock.advance(120_000)
  await quiet()
  t.same([far.requests('OPTIONS'), trunk.looks], [[], []])
})

t.test('a registration is updated and removed together with its SIP connection', async (t) => {
  const { trunk, far, connection, change } = await registering(t)
  const { request } = await headersOf(far, 1)
  far.respond(request, 200)
  await wanted(() => trunk.registered.length === 1, 'the look')
  change([{ ...connection, outbound: { ...connection.outbound!, username: 'front' } }])
  await trunk.clock.advance(10_000)
  const taken = await wanted(
    () => far.requests('REGISTER').find(({ headers }) => valueOf(headers, 'expires') === '0'),
    'the end of the first one',
  )
  t.equal(taken.callId, request.callId)
  t.match(valueOf(taken.headers, 'contact'), /;expires=0$/)
  far.respond(taken, 200)
  const other = await wanted(
    () => far.requests('REGISTER').find(({ from }) => /front@/.test(from.uri)),
    'the second one',
  )
  far.respond(other, 200)
  await wanted(() => trunk.registered.length === 2, 'the second look')
  await trunk.line.close()
  await wanted(() => far.requests('REGISTER').length === 4, 'the end of the second one')
  t.equal(valueOf(far.requests('REGISTER')[3]!.headers, 'expires'), '0')
})

t.test('a SIP connection without the setting register sends no REGISTER', async (t) => {
  const { far } = await registering(t, {}, { register: false })
  await quiet()
  t.same(far.requests('REGISTER'), [])
})

for (const [name, uri, to, headers, number] of [
  ['To', 'sip:parley@127.0.0.1', '<sip:+15550001111@trunk.test>', [], '+15550001111'],
  [
    'P-Called-Party-ID',
    'sip:parley@127.0.0.1',
    '<sip:desk@trunk.test>',
    ['P-Called-Party-ID: "x" <sip:+15550002222@a>'],
    '+15550002222',
  ],
  [
    'its own address',
    'sip:+15550003333@127.0.0.1',
    '<sip:desk@trunk.test>',
    ['P-Called-Party-ID: <sip:+1555@a>'],
    '+15550003333',
  ],
] as const)
  t.test(`the dialled number of a call to a registration is read from ${name}`, async (t) => {
    const { trunk, far } = await registering(t)
    far.respond((await headersOf(far, 1)).request, 200)
    await wanted(() => trunk.registered.length === 1, 'the look')
    far.send('INVITE', { callId: 'call-1', uri, to, headers: [sdpType, ...headers], body: sdp() })
    t.match(await trunk.event('initiated'), { to: number, connectionId: 'sip_out' })
  })

t.test('an INVITE from a trunk that has refused the registration is challenged, and starts no call', async (t) => {
  const { trunk, far } = await registering(t)
  far.respond((await headersOf(far, 1)).request, 403)
  await wanted(() => trunk.registered.length === 1, 'the look')
  far.send('INVITE', { callId: 'call-1', headers: [sdpType, `User-Agent: ${'trunk '.repeat(60)}`], body: sdp() })
  await far.response(401)
  t.same(trunk.types(), [])
})

t.test("the registered address is the user name at the host, or at the user name's domain", (t) => {
  for (const [username, record] of [
    ['desk', 'sip:desk@trunk.test'],
    ['+15550001111', 'sip:+15550001111@trunk.test'],
    ['desk@voice.example', 'sip:desk@voice.example'],
    ['a:b/c', 'sip:a%3Ab%2Fc@trunk.test'],
    ['<x>', 'sip:%3Cx%3E@trunk.test'],
  ] as const)
    t.equal(recordOf({ username, host: 'trunk.test' }), record)
  t.end()
})

t.test('each new code with which a trunk refuses a registration is logged', async (t) => {
  const { trunk, far } = await registering(t)
  const tries = [
    [503, 60_000],
    [403, 120_000],
    [403, 0],
  ] as const
  for (const [at, [code, pauseMs]] of tries.entries()) {
    await wanted(() => triesOf(far) === at + 1, `try ${at + 1}`)
    far.respond(far.requests('REGISTER').at(-1)!, code)
    await wanted(() => trunk.registered.length === at + 1, `refusal ${at + 1}`)
    await trunk.clock.advance(pauseMs)
  }
  const codes = trunk.warned.flatMap((warning) => /"code":(\d+)/.exec(JSON.stringify(warning))?.[1] ?? [])
  t.same(codes, ['503', '403'])
})

t.test('a check of a trunk that registers sends OPTIONS, and does not change its state', async (t) => {
  const { trunk, far } = await registering(t)
  const checking = trunk.line.check('sip_out')
  far.respond(await far.request('OPTIONS'), 503)
  t.match(await checking, { sipCode: 503, error: 'refused' })
  t.same(trunk.looks, [])
})
