/** Bodies with several parts (RFC 5621): the SDP part counts, in calls in both directions. */
import t from 'tap'
import { sdpIn, unsupported } from '../../providers/trunk/bodies.ts'
import { type Header, valueOf } from '../../providers/trunk/message.ts'
import { legId, media, openTrunk, outgoingTo, toDial } from './setup.ts'
import { sdp, sdpType } from './sip-peer.ts'

const place = '<presence xmlns="urn:ietf:params:xml:ns:pidf" entity="pres:a@b"/>'
type Part = { type?: string; more?: readonly string[]; body?: string }
const sdpPart: Part = { type: 'application/sdp', body: sdp() }
const placePart: Part = { type: 'application/pidf+xml', more: ['Content-ID: <place@far.test>'], body: place }

function multipart(parts: readonly Part[], boundary = 'boundary1'): string {
  const texts = parts.map(({ type, more = [], body = '' }) =>
    [`--${boundary}`, ...(type === undefined ? [] : [`Content-Type: ${type}`]), ...more, '', body].join('\r\n'),
  )
  return [...texts, `--${boundary}--`, ''].join('\r\n')
}

const mixed = 'Content-Type: multipart/mixed;boundary=boundary1'
const found = (type: string, body: string, more: readonly Header[] = []) =>
  sdpIn({ headers: [['content-type', type], ...more], body })
const disposed = (value: string) => ({ more: [`Content-Disposition: ${value}`] })
const ofMixed = (...parts: Part[]) => found('multipart/mixed; boundary="boundary1"', multipart(parts))
const early = sdp({ port: 39_000 })

for (const [name, actual, expected] of [
  ['SDP alone', found('application/sdp', sdp()), 'sdp'],
  ['SDP with a parameter', found('Application/SDP; charset=utf-8', sdp()), 'sdp'],
  ['SDP before another part', ofMixed(sdpPart, placePart), 'sdp'],
  ['SDP behind another part', ofMixed(placePart, sdpPart), 'sdp'],
  ['an optional part', ofMixed({ type: 'application/isup', ...disposed('signal;handling=optional') }, sdpPart), 'sdp'],
  [
    'a part that must be understood',
    ofMixed(sdpPart, { type: 'application/isup', ...disposed('signal; handling="required"') }),
    unsupported,
  ],
  [
    'a description of an early session',
    ofMixed({ ...sdpPart, body: early, ...disposed('early-session') }, sdpPart),
    'sdp',
  ],
  ['SDP that is the session', ofMixed({ ...sdpPart, ...disposed('session;handling=required') }), 'sdp'],
  [
    'parts in a part',
    ofMixed(placePart, { type: 'multipart/related;boundary="in"', body: multipart([placePart, sdpPart], 'in') }),
    'sdp',
  ],
  [
    'alternatives',
    found('multipart/alternative;boundary=boundary1', multipart([{ ...sdpPart, body: early }, sdpPart, placePart])),
    'sdp',
  ],
  [
    'an alternative that we do not understand',
    found(
      'multipart/alternative;boundary=boundary1',
      multipart([sdpPart, { type: 'text/x', ...disposed('session;handling=required') }]),
    ),
    'sdp',
  ],
  ['no SDP among the parts', ofMixed(placePart), null],
  ['a part without a type', ofMixed({ body: sdp() }), null],
  ['no boundary', found('multipart/mixed', multipart([sdpPart])), null],
  ['another boundary', found('multipart/mixed;boundary=boundary', multipart([sdpPart])), null],
  [
    'text around the parts',
    found('multipart/mixed;boundary=boundary1', `before\r\n${multipart([sdpPart])}${sdp({ port: 1 })}`),
    'sdp',
  ],
  [
    'lone line feeds',
    found('multipart/mixed;boundary=boundary1', multipart([placePart, sdpPart]).replaceAll('\r\n', '\n')),
    'sdp',
  ],
  [
    'base64',
    ofMixed({
      type: 'application/sdp',
      more: ['Content-Transfer-Encoding: base64'],
      body: Buffer.from(sdp()).toString('base64'),
    }),
    'sdp',
  ],
  ['another body that must be understood', found('application/isup', 'x'), unsupported],
  [
    'another body that is optional',
    found('application/isup', 'x', [['content-disposition', 'signal;handling=optional']]),
    null,
  ],
  ['no body', found('application/sdp', ''), null],
] as const)
  t.test(`the SDP in a message body is extracted or refused: ${name}`, (t) => {
    if (expected === 'sdp') t.equal(String(actual).trim(), sdp().trim())
    else t.equal(actual, expected)
    t.end()
  })

t.test('a message with many or deeply nested body parts is parsed in little time', (t) => {
  let body = multipart([sdpPart], 'b20')
  for (let depth = 19; depth >= 0; depth--)
    body = multipart([{ type: `multipart/mixed;boundary=b${depth + 1}`, body }], `b${depth}`)
  t.equal(found('multipart/mixed;boundary=b0', body), null)
  const { user: startUs } = process.cpuUsage()
  for (const line of ['--boundary1\r\n', '--boundary1\r\n\r\n', '\r\n', '--'])
    found('multipart/mixed;boundary=boundary1', line.repeat(16_000 / line.length))
  t.ok(process.cpuUsage().user - startUs < 1_000_000)
  t.end()
})

t.test('a call whose INVITE has a location part beside the SDP is answered, and so is a later offer', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('INVITE', { callId: 'call-1', headers: [mixed], body: multipart([sdpPart, placePart]) })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const { to } = await peer.response(200, 'INVITE')
  peer.send('ACK', { callId: 'call-1', to: to.text })
  await trunk.event('stream_started')
  const moved = multipart([placePart, { ...sdpPart, body: sdp({ port: 41_000 }) }])
  peer.send('INVITE', { callId: 'call-1', to: to.text, cseq: 2, headers: [mixed], body: moved })
  await peer.response(200, 'INVITE', 2)
  t.match(trunk.rtps[0]?.starts, [{ port: 40_000 }, { port: 41_000 }])
})

t.test('after an INVITE without an offer, the SDP answer is read from a body part of the ACK', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  peer.send('INVITE', { callId: 'call-1', headers: [mixed], body: multipart([placePart]) })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const ok = await peer.response(200, 'INVITE')
  t.match(ok.body, /RTP\/AVP 0 8 101/)
  peer.send('ACK', { callId: 'call-1', to: ok.to.text, headers: [mixed], body: multipart([placePart, sdpPart]) })
  await trunk.event('stream_started')
  t.match(trunk.rtps[0]?.starts, [{ port: 40_000 }])
})

t.test('an unknown body part with handling=required gets 415 with the accepted types', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const required = { type: 'application/isup', ...disposed('signal;handling=required') }
  peer.send('INVITE', { callId: 'call-1', headers: [mixed], body: multipart([sdpPart, required]) })
  const refused = await peer.response(415)
  t.match(valueOf(refused.headers, 'accept'), 'application/sdp')
  t.same(trunk.types(), [])
})

for (const [name, provisional, final] of [
  ['in a part', null, { headers: [mixed], body: multipart([sdpPart, placePart]) }],
  ['in a provisional response alone', { headers: [sdpType], body: sdp() }, {}],
  ['in a part of a provisional response', { headers: [mixed], body: multipart([placePart, sdpPart]) }, {}],
  ['in both', { headers: [sdpType], body: early }, { headers: [sdpType], body: sdp() }],
] as const)
  t.test(`the SDP answer of a called phone is read ${name}`, async (t) => {
    let port = 0
    const trunk = await openTrunk(t, { outgoing: () => [outgoingTo(port)] })
    const far = await trunk.peer()
    port = far.port
    const dialing = trunk.line.dial(toDial(), new AbortController().signal)
    const invite = await far.request('INVITE')
    far.respond(invite, 183, provisional ?? {})
    await dialing
    far.respond(invite, 200, final)
    await trunk.event('stream_started')
    t.match(trunk.rtps[0]?.starts, [{ port: 40_000, encoding: 'PCMU' }])
  })

t.test('a phone that answers without SDP has no audio, even if another phone has answered with SDP', async (t) => {
  let port = 0
  const trunk = await openTrunk(t, { outgoing: () => [outgoingTo(port)] })
  const far = await trunk.peer()
  port = far.port
  const dialing = trunk.line.dial(toDial(), new AbortController().signal)
  const invite = await far.request('INVITE')
  far.respond(invite, 183, { toTag: 'other', headers: [sdpType], body: sdp() })
  await dialing
  far.respond(invite, 200)
  await trunk.event('stream_failed')
  t.same(trunk.rtps[0]?.starts, [])
})
