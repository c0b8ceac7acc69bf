/** SDP as networks send it: each line has its position, and each format its number (RFC 3264, RFC 8866). */
import t from 'tap'
import { readAnswer, readLaterOffer, readSdp, writeAnswer, writeOffer } from '../../providers/trunk/sdp.ts'
import { legId, media, openTrunk, type Trunk } from './setup.ts'
import { type SipPeer, sdp, sdpType } from './sip-peer.ts'

const local = { address: '127.0.0.1', port: 42_000, id: 1, version: 1 }
const session = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 'c=IN IP4 127.0.0.1', 't=0 0']
const events = 'a=rtpmap:101 telephone-event/8000'
const text = (...lines: string[]) => [...session, ...lines, ''].join('\r\n')
const mediaLines = (description: string) => description.split('\r\n').filter((line) => line.startsWith('m='))

/** The m= lines in our answer. Null: the offer is refused. */
function answerTo(offer: string): string[] | null {
  const read = readSdp(offer)
  return read === null ? null : mediaLines(writeAnswer(local, read))
}

const crypto = 'a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5'

for (const [name, lines, answer] of [
  [
    'SRTP is optional, and both lines have one port',
    ['m=audio 40000 RTP/SAVP 0 101', crypto, events, 'm=audio 40000 RTP/AVP 0 101', events],
    ['m=audio 0 RTP/SAVP 0 101', 'm=audio 42000 RTP/AVP 0 101'],
  ],
  [
    'a port begins with the digits of another one',
    ['m=audio 40001 RTP/SAVP 0', 'm=audio 4000 RTP/AVP 0', 'm=video 40002 RTP/AVP 96'],
    ['m=audio 0 RTP/SAVP 0', 'm=audio 42000 RTP/AVP 0', 'm=video 0 RTP/AVP 96'],
  ],
  [
    'the line with encryption is the second one',
    ['m=audio 40000 RTP/AVP 8 101', events, 'm=audio 40000 RTP/SAVP 8 101', crypto, events],
    ['m=audio 42000 RTP/AVP 8 101', 'm=audio 0 RTP/SAVP 8 101'],
  ],
  [
    'the first line has an encoding that we do not speak',
    ['m=audio 40000 RTP/AVP 96', 'a=rtpmap:96 opus/48000/2', 'm=audio 40002/1 RTP/AVP 0'],
    ['m=audio 0 RTP/AVP 96', 'm=audio 42000 RTP/AVP 0'],
  ],
  [
    'the first line is refused already, and a fax follows',
    ['m=audio 0 RTP/AVP 0', 'm=audio 40000 RTP/AVP 0', 'm=image 40000 udptl t38'],
    ['m=audio 0 RTP/AVP 0', 'm=audio 42000 RTP/AVP 0', 'm=image 0 udptl t38'],
  ],
  ['encryption alone', ['m=audio 40000 RTP/SAVP 0', crypto], null],
] as const)
  t.test(`an SDP answer has each m= line at the position of the offer: ${name}`, (t) => {
    t.same(answerTo(text(...lines)), answer)
    t.end()
  })

for (const [name, rtpmap, number] of [
  ['telephone-event/8000', 'a=rtpmap:101 telephone-event/8000', 101],
  ['the number of channels', 'a=rtpmap:101 telephone-event/8000/1', 101],
  ['capitals', 'a=rtpmap:101 TELEPHONE-EVENT/8000/1', 101],
  ['spaces', 'a=rtpmap: 101 telephone-event/8000 ', 101],
  ['another rate', 'a=rtpmap:101 telephone-event/48000', null],
  ['two channels', 'a=rtpmap:101 telephone-event/8000/2', null],
] as const)
  t.test(`the payload type of telephone events in an SDP is found by name, with ${name}`, (t) => {
    const read = readSdp(text('m=audio 40000 RTP/AVP 0 101', rtpmap))
    t.equal(read?.dtmfPayloadType, number)
    t.match(mediaLines(writeAnswer(local, read!))[0], number === null ? /RTP\/AVP 0$/ : /RTP\/AVP 0 101$/)
    t.end()
  })

t.test('an encoding with a channel count of 1 is supported, also with a dynamic payload type', (t) => {
  for (const rtpmap of ['PCMA/8000/1', 'pcma/8000', 'PCMA / 8000'])
    t.match(readSdp(text('m=audio 40000 RTP/AVP 97', `a=rtpmap:97 ${rtpmap}`)), { encoding: 'PCMA', payloadType: 97 })
  t.equal(readSdp(text('m=audio 40000 RTP/AVP 97', 'a=rtpmap:97 PCMA/8000/2')), null)
  t.end()
})

t.test('a payload type that is not valid in RTP is ignored', (t) => {
  const pcmu = (type: number) => `a=rtpmap:${type} PCMU/8000`
  t.equal(readSdp(text('m=audio 5004 RTP/AVP 200', pcmu(200))), null)
  t.equal(readSdp(text('m=audio 5004 RTP/AVP 128', pcmu(128))), null)
  t.match(readSdp(text('m=audio 5004 RTP/AVP 127', pcmu(127))), { payloadType: 127, encoding: 'PCMU' })
  const wide = readSdp(text('m=audio 5004 RTP/AVP 200 8 229', pcmu(200), 'a=rtpmap:229 telephone-event/8000'))
  t.match(wide, { payloadType: 8, dtmfPayloadType: null })
  t.same(wide?.formats, [{ payloadType: 8, encoding: 'PCMA' }])
  t.same(answerTo(text('m=audio 5004 RTP/AVP 200', pcmu(200), 'm=audio 5006 RTP/AVP 0')), [
    'm=audio 0 RTP/AVP 200',
    'm=audio 42000 RTP/AVP 0',
  ])
  t.equal(readAnswer(text('m=audio 5004 RTP/AVP 300', pcmu(300))), null, 'nor in an answer')
  t.end()
})

t.test('an SDP offer of many lines is answered with all of its m= lines', (t) => {
  const attributes = (count: number) => Array.from({ length: count }, (_, n) => `a=candidate:${n}`)
  const video = ['m=video 40002 RTP/AVP 96', ...attributes(300)]
  const refused = 'm=video 0 RTP/AVP 96'
  const audio = ['m=audio 40000 RTP/AVP 0', ...attributes(300), 'a=sendonly']
  t.same(answerTo(text(...audio, ...video, 'm=image 40004 udptl t38')), [
    'm=audio 42000 RTP/AVP 0',
    refused,
    'm=image 0 udptl t38',
  ])
  t.same(answerTo(text(...video, ...video, ...audio)), [refused, refused, 'm=audio 42000 RTP/AVP 0'])
  t.match(readSdp(text(...attributes(300), ...audio)), { port: 40_000, direction: 'sendonly' })
  const many = Array.from({ length: 400 }, () => 'm=video 1 RTP/AVP 9')
  t.equal(answerTo(text('m=audio 40000 RTP/AVP 0', ...many))?.length, 401)
  t.end()
})

t.test('a long SDP is parsed in linear time', (t) => {
  const { user: startUs } = process.cpuUsage()
  for (const line of ['m=\n', 'c=\n', 'm=audio 1 RTP/AVP 0\n', 'a=rtpmap:0 x\n', '\n', 'm=audio 1 RTP/AVP 0\na=\n'])
    for (const start of ['', 'v=0\n'.repeat(2_000)]) readSdp(start + line.repeat((16_384 - start.length) / line.length))
  t.ok(process.cpuUsage().user - startUs < 1_000_000)
  t.end()
})

t.test('after an SDP answer each format is accepted under the payload types of both sides', (t) => {
  const formats = (...lines: string[]) => {
    const read = readAnswer(text(...lines))
    return [...new Set(read?.formats.map(({ payloadType, encoding }) => `${payloadType} ${encoding}`))].sort()
  }
  t.same(formats('m=audio 41000 RTP/AVP 0 8 101', events), ['0 PCMU', '101 telephone-event', '8 PCMA'])
  t.same(formats('m=audio 41000 RTP/AVP 8'), ['8 PCMA'], 'PCMU was not answered')
  t.same(
    formats('m=audio 41000 RTP/AVP 0 96', 'a=rtpmap:96 telephone-event/8000'),
    ['0 PCMU', '101 telephone-event', '96 telephone-event'],
    'the other side sends our number, or its own',
  )
  t.same(formats('m=audio 41000 RTP/AVP 0 101'), ['0 PCMU', '101 telephone-event'], 'our offer has named 101')
  t.end()
})

t.test("an SDP answer is read from the m= line at the position of our offer's m= line", (t) => {
  t.equal(readAnswer(text('m=audio 0 RTP/AVP 0')), null, 'refused')
  t.equal(readAnswer(text('m=audio 0 RTP/AVP 0', 'm=audio 41000 RTP/AVP 0')), null, 'we have offered one line')
  t.equal(readAnswer(text('m=video 41000 RTP/AVP 96')), null)
  t.end()
})

t.test("our offer during a call keeps the call's m= lines and payload types", (t) => {
  const first = readSdp(
    text(
      ...['m=audio 40000 RTP/SAVP 0', crypto, 'm=audio 40000 RTP/AVP 0 96 101'],
      ...['a=rtpmap:96 telephone-event/8000', 'a=rtpmap:101 opus/48000/2'],
    ),
  )
  const offer = writeOffer(local, first)
  t.same(mediaLines(offer), ['m=audio 0 RTP/SAVP 0', 'm=audio 42000 RTP/AVP 0 8 96'])
  const answer = readAnswer(text('m=audio 0 RTP/SAVP 0', 'm=audio 41000 RTP/AVP 8 96'), first)
  t.match(answer, { port: 41_000, encoding: 'PCMA', dtmfPayloadType: 96, position: 1 })
  const without = readSdp(text('m=audio 40000 RTP/AVP 0 101', 'a=rtpmap:101 opus/48000/2'))
  t.same(mediaLines(writeOffer(local, without)), ['m=audio 42000 RTP/AVP 0 8 96'], '101 means another format here')
  t.end()
})

t.test('an SDP offer that stops the stream is answered, and the next offer restarts the stream', (t) => {
  const first = readSdp(sdp())
  const stopped = readLaterOffer(text('m=audio 0 RTP/AVP 0 101', 'm=image 0 udptl t38'), first)
  t.match(stopped, { direction: 'inactive', position: null })
  t.same(mediaLines(writeAnswer(local, stopped!)), ['m=audio 0 RTP/AVP 0 101', 'm=image 0 udptl t38'])
  t.same(mediaLines(writeOffer(local, stopped)), ['m=audio 42000 RTP/AVP 0 8 101', 'm=image 0 udptl t38'])
  t.equal(readLaterOffer(text('m=audio 0 RTP/AVP 0', 'm=image 40000 udptl t38'), first), null, 'a fax is refused')
  t.match(readLaterOffer(sdp(), stopped), { port: 40_000, position: 0 })
  t.equal(readSdp(text('m=audio 0 RTP/AVP 0')), null, 'no call begins so')
  t.end()
})

for (const [name, c, address] of [
  ['a name', 'c=IN IP4 localhost', 'localhost'],
  ['a name with dots', 'c=IN IP4 media-1.pbx.example.', 'media-1.pbx.example.'],
  ['a name for IPv6', 'c=IN IP6 sbc_2.example', 'sbc_2.example'],
  ['a name with a TTL', 'c=IN IP4 pbx.example/127', 'pbx.example'],
  ['an address', 'c=IN IP4 127.0.0.9', '127.0.0.9'],
  ['a mistyped address', 'c=IN IP4 127.0.0.999', undefined],
  ['an address with a scope', 'c=IN IP6 fe80::1%eth0', undefined],
  ['what is no name', 'c=IN IP4 a;b', undefined],
] as const)
  t.test(`the address of an SDP offer is read or ignored: ${name}`, (t) => {
    t.equal(readSdp(sdp().replace(/c=IN IP4 \S+/, c))?.address, address)
    t.end()
  })

t.test('a long host name in an SDP is parsed in linear time', (t) => {
  const { user: startUs } = process.cpuUsage()
  for (const part of ['a.', '1.', 'a', '-', '1', 'a1'])
    readSdp(sdp().replace(/c=IN IP4 \S+/, `c=IN IP4 ${part.repeat(16_000 / part.length)}!`))
  t.ok(process.cpuUsage().user - startUs < 1_000_000)
  t.end()
})

async function answered(trunk: Trunk, peer: SipPeer, body: string) {
  peer.send('INVITE', { callId: 'call-1', headers: [sdpType], body })
  const { carrierLegId } = await trunk.event('initiated')
  await trunk.line.answer({ legId, carrierLegId }, media)
  const ok = await peer.response(200, 'INVITE')
  peer.send('ACK', { callId: 'call-1', to: ok.to.text })
  await trunk.event('stream_started')
  return ok
}

t.test('an SDP with a host name and two m= lines is answered, and later SDPs stop and restart the audio', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const offer = text(
    'm=audio 40000 RTP/SAVP 0',
    crypto,
    'm=audio 40000 RTP/AVP 0 101',
    'a=rtpmap:101 telephone-event/8000/1',
  )
  const ok = await answered(trunk, peer, offer.replace('c=IN IP4 127.0.0.1', 'c=IN IP4 localhost'))
  t.same(mediaLines(ok.body), ['m=audio 0 RTP/SAVP 0', 'm=audio 42000 RTP/AVP 0 101'])
  const later = { callId: 'call-1', to: ok.to.text, headers: [sdpType] }
  peer.send('INVITE', { ...later, cseq: 2, body: text('m=audio 0 RTP/SAVP 0', 'm=audio 0 RTP/AVP 0 101') })
  const stopped = await peer.response(200, 'INVITE', 2)
  t.same(mediaLines(stopped.body), ['m=audio 0 RTP/SAVP 0', 'm=audio 0 RTP/AVP 0 101'])
  peer.send('ACK', { ...later, cseq: 2 })
  peer.send('INVITE', { ...later, cseq: 3, body: text('m=video 40002 RTP/AVP 96') })
  await peer.response(488, 'INVITE')
  peer.send('INVITE', { callId: 'call-1', to: ok.to.text, cseq: 4 })
  const offered = await peer.response(200, 'INVITE', 3)
  t.same(mediaLines(offered.body), ['m=audio 42000 RTP/AVP 0 8 101', 'm=audio 0 RTP/AVP 0 101'])
  t.match(offered.body, /o=parley \d+ 3 /, 'a refused offer has no version')
  peer.send('ACK', { ...later, cseq: 4, body: text('m=audio 41000 RTP/AVP 8 101', events, 'm=audio 0 RTP/AVP 0 101') })
  await peer.response(200, 'INVITE', 3)
  peer.send('BYE', { ...later, cseq: 5 })
  await trunk.event('hangup')
  t.match(trunk.rtps[0]?.starts, [
    { address: 'localhost', port: 40_000, dtmfPayloadType: 101 },
    { direction: 'inactive' },
    { port: 41_000, encoding: 'PCMA' },
  ])
})
