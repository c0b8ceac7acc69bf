/** Outbound calls over a trunk: the other side speaks SIP over real sockets. */
import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { PhoneLineError } from '../../domain/ports/phone-line.ts'
import { valueOf } from '../../providers/trunk/message.ts'
import { answer, openOut, talking } from './outbound-setup.ts'
import { legId, toDial } from './setup.ts'
import { quiet, sdp, sdpType, wanted } from './sip-peer.ts'

const { signal } = new AbortController()

t.test('a call over the trunk rings, is answered and is hung up by the other side', async (t) => {
  const { trunk, far } = await openOut(t)
  const dialing = trunk.line.dial(toDial({ headers: { 'X-Case': '7\r\nEvil: yes', Via: 'no' } }), signal)
  const invite = await far.request('INVITE')
  t.equal(invite.uri, `sip:+15557654321@trunk.test:${far.port}`)
  t.match(invite.from.uri, 'sip:+15550001111@127.0.0.1')
  t.equal(valueOf(invite.headers, 'x-case'), '7 Evil: yes')
  t.equal(invite.headers.filter(([name]) => name === 'via').length, 1)
  t.match(invite.body, /m=audio 42000 RTP\/AVP 0 8 101/)
  far.respond(invite, 100)
  const ref = { legId, ...(await dialing) }
  far.respond(invite, 180)
  await trunk.event('ringing')
  far.respond(invite, 183)
  far.respond(invite, 200, answer)
  const ack = await far.request('ACK')
  t.equal(ack.uri, `sip:far@127.0.0.1:${far.port}`)
  t.equal(ack.cseq.number, invite.cseq.number)
  await trunk.event('stream_started')
  t.match(trunk.rtps[0]?.starts, [{ port: 41_000, encoding: 'PCMA', payloadType: 8 }])
  far.respond(invite, 200, answer)
  await far.request('ACK', 2)
  far.send('BYE', { callId: invite.callId, from: `${invite.to.text};tag=far`, to: invite.from.text, cseq: 1 })
  await far.response(200, 'BYE')
  t.match(await trunk.event('hangup'), { by: 'callee', cause: 'normal_clearing', sipCode: null, legId })
  t.notOk(await trunk.line.isAlive(ref))
  t.same(trunk.types(), ['initiated', 'ringing', 'answered', 'stream_started', 'stream_stopped', 'hangup'])
})

const desk = { username: 'desk', password: 'x' }
for (const [name, ways, uri, from, identity] of [
  ['as most trunks want them', {}, 'sip:+15557654321@trunk.test:PORT', 'sip:+15550001111@127.0.0.1', {}],
  [
    'with user=phone',
    { userPhone: true },
    'sip:+15557654321@trunk.test:PORT;user=phone',
    'sip:+15550001111@127.0.0.1',
    {},
  ],
  [
    'with the login in From and a preferred identity',
    { ...desk, userPhone: true, identity: 'preferred' },
    'sip:+15557654321@trunk.test:PORT;user=phone',
    'sip:desk@trunk.test',
    { 'p-preferred-identity': '<sip:+15550001111@trunk.test>' },
  ],
  [
    'with an asserted identity',
    { ...desk, identity: 'asserted' },
    'sip:+15557654321@trunk.test:PORT',
    'sip:desk@trunk.test',
    { 'p-asserted-identity': '<sip:+15550001111@trunk.test>' },
  ],
  [
    'with a login that has a domain',
    { ...desk, username: 'desk@voice.example', identity: 'asserted' },
    'sip:+15557654321@trunk.test:PORT',
    'sip:desk@voice.example',
    { 'p-asserted-identity': '<sip:+15550001111@trunk.test>' },
  ],
  [
    'with an identity and no login',
    { identity: 'preferred' },
    'sip:+15557654321@trunk.test:PORT',
    'sip:+15550001111@trunk.test',
    { 'p-preferred-identity': '<sip:+15550001111@trunk.test>' },
  ],
  ['with a login that is not named', desk, 'sip:+15557654321@trunk.test:PORT', 'sip:+15550001111@127.0.0.1', {}],
] as const)
  t.test(`the addresses of a call are written in the trunk's form: ${name}`, async (t) => {
    const { trunk, far } = await openOut(t, ways)
    const dialing = trunk.line.dial(toDial(), signal)
    const invite = await far.request('INVITE')
    t.equal(invite.uri, uri.replace('PORT', String(far.port)))
    t.equal(invite.to.text, `<${invite.uri}>`)
    t.equal(invite.from.uri, from)
    const asserted = invite.headers.filter(([header]) => /^p-(asserted|preferred)-identity$/.test(header))
    t.same(Object.fromEntries(asserted), identity)
    far.respond(invite, 486)
    await dialing
  })

t.test('an INVITE is repeated until a response arrives, and without a response the call fails', async (t) => {
  const { trunk, far } = await openOut(t)
  const dialing = trunk.line.dial(toDial({ ringingTimeoutS: 60 }), signal)
  await far.request('INVITE')
  await trunk.clock.advance(500)
  await far.request('INVITE', 2)
  await trunk.clock.advance(1_000)
  await far.request('INVITE', 3)
  const failed = t.rejects(dialing, new PhoneLineError('timeout'))
  await trunk.clock.advance(31_000)
  await failed
  t.match(await trunk.event('hangup'), { sipCode: 408, cause: 'timeout' })
  t.ok(trunk.rtps[0]?.isClosed)
})

for (const [code, cause] of [
  [486, 'user_busy'],
  [603, 'call_rejected'],
  [404, 'not_found'],
  [480, 'no_answer'],
] as const)
  t.test(`if the person's phone answers ${code}, the call counts as dialled and has ended`, async (t) => {
    const { trunk, far } = await openOut(t)
    const dialing = trunk.line.dial(toDial(), signal)
    far.respond(await far.request('INVITE'), code)
    await dialing
    const ack = await far.request('ACK')
    t.match(ack.to.tag, 'far')
    t.match(await trunk.event('hangup'), { sipCode: code, cause, by: 'callee' })
  })

for (const code of [302, 403, 488, 503])
  t.test(`if the trunk answers ${code}, the trunk has not accepted the call`, async (t) => {
    const { trunk, far } = await openOut(t)
    const dialing = trunk.line.dial(toDial(), signal)
    const refused = t.rejects(dialing, new PhoneLineError('refused', { sipCode: code }))
    const invite = await far.request('INVITE')
    far.respond(invite, code, { headers: ['Contact: <sip:+19005550000@127.0.0.1:9>'] })
    await refused
    await far.request('ACK')
    t.equal(far.requests('INVITE').length, 1)
  })

t.test('a call over the trunk that rings too long is cancelled', async (t) => {
  const { trunk, far } = await openOut(t)
  const dialing = trunk.line.dial(toDial({ ringingTimeoutS: 20 }), signal)
  const invite = await far.request('INVITE')
  far.respond(invite, 180)
  await dialing
  await trunk.clock.advance(20_000)
  const cancel = await far.request('CANCEL')
  t.equal(cancel.via.branch, invite.via.branch)
  t.equal(cancel.cseq.number, invite.cseq.number)
  far.respond(cancel, 200)
  far.respond(invite, 487)
  t.match(await trunk.event('hangup'), { sipCode: 487, cause: 'timeout', by: 'caller' })
})

t.test('if a call is hung up before the first response, CANCEL is sent after that response', async (t) => {
  const { trunk, far } = await openOut(t)
  const controller = new AbortController()
  const dialing = trunk.line.dial(toDial(), controller.signal)
  const invite = await far.request('INVITE')
  controller.abort()
  await quiet()
  t.same(far.requests('CANCEL'), [])
  far.respond(invite, 100)
  await far.request('CANCEL')
  // The answer and the CANCEL are on their way at the same time.
  far.respond(invite, 200, answer)
  await far.request('ACK')
  await far.request('BYE')
  t.match(await trunk.event('hangup'), { cause: 'originator_cancel', by: 'caller' })
  t.same(trunk.types(), ['initiated', 'hangup'])
  await dialing
})

t.test('if a second phone answers the same INVITE, the call to the second phone is hung up', async (t) => {
  const { trunk, far, invite } = await talking(t)
  far.respond(invite, 200, { ...answer, toTag: 'other' })
  const bye = await far.request('BYE')
  t.equal(bye.to.tag, 'other')
  t.notOk(trunk.types().includes('hangup'))
})

t.test('an SDP answer without a supported format ends the call', async (t) => {
  const { trunk, far } = await openOut(t)
  const dialing = trunk.line.dial(toDial(), signal)
  far.respond(await far.request('INVITE'), 200, { headers: [sdpType], body: sdp({ types: '18' }) })
  await far.request('BYE')
  await dialing
  await trunk.event('stream_failed')
  await trunk.event('hangup')
  t.equal(trunk.sinks.length, 0)
})

t.test('a call over the trunk ends at its longest duration', async (t) => {
  const { trunk, far } = await talking(t)
  await trunk.clock.advance(3_600_000)
  await far.request('BYE')
  t.match(await trunk.event('hangup'), { by: 'caller' })
})

t.test('a forged answer from another address or with another branch is ignored', async (t) => {
  const { trunk, far } = await openOut(t)
  const dialing = trunk.line.dial(toDial(), signal)
  const invite = await far.request('INVITE')
  const forged = {
    ...invite,
    headers: invite.headers.map(([name, value]) => [name, value.replace(/z9hG4bK\w+/, 'z9hG4bKx')] as const),
  }
  far.respond(forged, 486)
  await quiet()
  t.same(trunk.types(), [])
  far.respond(invite, 486)
  await dialing
})

const hashes = { MD5: 'md5', 'SHA-256': 'sha256' } as const

for (const [code, algorithm] of [
  [407, 'MD5'],
  [401, 'SHA-256'],
] as const)
  t.test(`credentials are sent if the trunk challenges with ${code} and ${algorithm}`, async (t) => {
    const { trunk, far } = await openOut(t, { username: 'desk', password: 'open "sesame"' })
    const dialing = trunk.line.dial(toDial(), signal)
    const first = await far.request('INVITE')
    const [asks, answers] =
      code === 407 ? ['Proxy-Authenticate', 'proxy-authorization'] : ['WWW-Authenticate', 'authorization']
    const challenge = `${asks}: Digest realm="trunk, test", nonce="n1", algorithm=${algorithm}, qop="auth,auth-int", opaque="o"`
    far.respond(first, code, { headers: [`${asks}: Digest realm="r", nonce="n", algorithm=SHA-512-256`, challenge] })
    const second = await far.request('INVITE', 2)
    t.equal(second.callId, first.callId)
    t.equal(second.cseq.number, first.cseq.number + 1)
    const given = valueOf(second.headers, answers) ?? ''
    const [, cnonce] = /cnonce="(\w+)"/.exec(given) ?? []
    const hash = (text: string) => createHash(hashes[algorithm]).update(text).digest('hex')
    const secret = hash('desk:trunk, test:open "sesame"')
    t.match(given, `response="${hash(`${secret}:n1:00000001:${cnonce}:auth:${hash(`INVITE:${second.uri}`)}`)}"`)
    t.match(given, 'opaque="o"')
    far.respond(second, 200, answer)
    await dialing
    const ack = await wanted(() => far.requests('ACK').find(({ cseq }) => cseq.number === second.cseq.number), 'ACK')
    t.equal(valueOf(ack.headers, answers), given)
    await trunk.event('answered')
  })

t.test('a wrong password is sent once, and again only for a new nonce', async (t) => {
  const { trunk, far } = await openOut(t, { username: 'desk', password: 'x' })
  const ask = (nonce: string, more = '') => ({
    headers: [`WWW-Authenticate: Digest realm="r", nonce="${nonce}"${more}`],
  })
  const refused = t.rejects(trunk.line.dial(toDial(), signal), new PhoneLineError('refused', { sipCode: 401 }))
  far.respond(await far.request('INVITE'), 401, ask('1'))
  far.respond(await far.request('INVITE', 2), 401, ask('2', ', stale=true'))
  far.respond(await far.request('INVITE', 3), 401, ask('3', ', stale=true'))
  await refused
  await quiet()
  t.equal(far.requests('INVITE').length, 3)
})

t.test('a call over an unknown connection, to an unknown host, or without audio is not dialled', async (t) => {
  const { trunk } = await openOut(t, { host: 'nowhere.test' })
  await t.rejects(trunk.line.dial(toDial({ connectionId: 'sip_other' }), signal), new PhoneLineError('refused'))
  await t.rejects(trunk.line.dial(toDial({ media: null }), signal), new PhoneLineError('refused'))
  await t.rejects(trunk.line.dial(toDial(), signal), new PhoneLineError('unreachable'))
  await t.rejects(trunk.line.sendDtmf({ legId, carrierLegId: 'gone' }, '1'), PhoneLineError)
  t.same(trunk.types(), [])
})

t.test('each trunk gets OPTIONS once a minute, and the response decides its state', async (t) => {
  const { trunk, far } = await openOut(t)
  await trunk.clock.advance(60_000)
  far.respond(await far.request('OPTIONS'), 200)
  await wanted(() => trunk.looks.length === 1, 'a look')
  await trunk.clock.advance(60_000)
  far.respond(await far.request('OPTIONS', 2), 503)
  await wanted(() => trunk.looks.length === 2, 'a second look')
  await trunk.clock.advance(60_000)
  await far.request('OPTIONS', 3)
  await trunk.clock.advance(32_000)
  await wanted(() => trunk.looks.length === 3, 'a third look')
  t.same(trunk.looks, [
    ['sip_out', true],
    ['sip_out', false],
    ['sip_out', false],
  ])
})

/** Answers the first OPTIONS request with this code, to test the effect on the trunk's state. */
async function lookWith(t: Test, code: number, login: Parameters<typeof openOut>[1] = {}) {
  const { trunk, far } = await openOut(t, login)
  await trunk.clock.advance(60_000)
  const headers = code === 401 ? ['WWW-Authenticate: Digest realm="r", nonce="1"'] : []
  far.respond(await far.request('OPTIONS'), code, { headers })
  return { trunk, far }
}

t.test("if a trunk challenges OPTIONS, the retry with credentials decides the trunk's state", async (t) => {
  for (const [code, takesCalls] of [
    [200, true],
    [401, false],
    [403, false],
  ] as const) {
    const { trunk, far } = await lookWith(t, 401, { username: 'desk', password: 'x' })
    const second = await far.request('OPTIONS', 2)
    t.match(valueOf(second.headers, 'authorization'), /username="desk"/)
    far.respond(second, code)
    await wanted(() => trunk.looks.length === 1, 'a look')
    t.same(trunk.looks, [['sip_out', takesCalls]], String(code))
  }
})

for (const code of [401, 403, 407, 408, 500, 503, 603])
  t.test(`${code} to OPTIONS shows that a trunk refuses calls`, async (t) => {
    const { trunk } = await lookWith(t, code)
    await wanted(() => trunk.looks.length === 1, 'a look')
    t.same(trunk.looks, [['sip_out', false]])
  })

for (const code of [404, 405, 480, 501])
  t.test(`${code} to OPTIONS shows neither that a trunk accepts calls nor that it refuses them`, async (t) => {
    const { trunk } = await lookWith(t, code)
    await quiet()
    t.same(trunk.looks, [])
  })

t.test(
  "a response to INVITE sets the trunk's state like a response to OPTIONS, unless it concerns the callee or the call",
  async (t) => {
    for (const [codes, looks] of [
      [[100, 403], [false]],
      [[401], [false]],
      [[503], [false]],
      [[180, 503], [true]],
      [[100, 486], [true]],
      [[404], [true]],
      [[603], [true]],
      [[100, 482], []],
    ] as const) {
      const { trunk, far } = await openOut(t)
      const dialing = trunk.line.dial(toDial(), signal).catch(() => {})
      const invite = await far.request('INVITE')
      for (const code of codes) far.respond(invite, code)
      await dialing
      await trunk.event('hangup')
      t.same(
        trunk.looks.map(([, takesCalls]) => takesCalls),
        looks,
        codes.join(),
      )
    }
  },
)

t.test('a call without a SIP response counts against the trunk, but a call that we cancel does not', async (t) => {
  const { trunk, far } = await openOut(t)
  const silent = t.rejects(trunk.line.dial(toDial({ ringingTimeoutS: 60 }), signal), new PhoneLineError('timeout'))
  await far.request('INVITE')
  await trunk.clock.advance(32_000)
  await silent
  t.same(trunk.looks, [['sip_out', false]])
  const given = await openOut(t)
  const abort = new AbortController()
  const dialing = given.trunk.line.dial(toDial(), abort.signal).catch(() => {})
  const invite = await given.far.request('INVITE')
  abort.abort()
  given.far.respond(invite, 100)
  given.far.respond(await given.far.request('CANCEL'), 200)
  given.far.respond(invite, 487)
  await dialing
  t.same(given.trunk.looks, [])
})
