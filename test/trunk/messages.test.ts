/** Bytes from the network: whole messages are read, and other bytes have no effect. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { Framing } from '../../providers/trunk/framing.ts'
import { readMessage, valuesOf, writeMessage } from '../../providers/trunk/message.ts'
import { readSdp } from '../../providers/trunk/sdp.ts'
import { openTrunk } from './setup.ts'
import { quiet, sdp } from './sip-peer.ts'

const lines = [
  'INVITE sip:+15550001111@127.0.0.1 SIP/2.0',
  'v: SIP/2.0/UDP 127.0.0.1:5061;branch=z9hG4bK1;rport , SIP / 2.0 / TCP first.test;branch=z9hG4bK0',
  'f: "A; B, <C>" <sip:a@b;user=phone>;x=y;tag=1',
  't: sip:d@e;z',
  'i: abc@def',
  'CSeq:   7   INVITE',
  'Subject: one',
  '  two',
  'Max-Forwards: 70',
]
const text = [...lines, '', ''].join('\r\n')
const read = (message: string) => readMessage(Buffer.from(message))

t.test('SIP messages with compact names, folded lines, quotes and lists are parsed', (t) => {
  const message = read(text)
  t.match(message, {
    callId: 'abc@def',
    cseq: { number: 7, method: 'INVITE' },
    from: { uri: 'sip:a@b;user=phone', tag: '1' },
  })
  t.match(message, {
    to: { uri: 'sip:d@e', tag: null },
    via: { port: 5061, wantsSourcePort: true, branch: 'z9hG4bK1' },
  })
  t.equal(valuesOf(message?.headers ?? [], 'via').length, 2)
  t.same(valuesOf(message?.headers ?? [], 'subject'), ['one two'])
  t.end()
})

t.test('a SIP message that breaks a rule or exceeds a limit is refused', (t) => {
  const broken = {
    'no end of the head': lines.join('\r\n'),
    'another version': text.replace('SIP/2.0', 'SIP/3.0'),
    'a method that differs': text.replace('7   INVITE', '7 BYE'),
    'a number that is too high': text.replace('7   INVITE', '4294967296 INVITE'),
    'no branch': text.replace(';branch=z9hG4bK1', ''),
    'a port at which nobody can be answered': text.replace('127.0.0.1:5061', '127.0.0.1:0'),
    'no Call-ID': text.replace('i: abc@def\r\n', ''),
    'a lone line break in a value': text.replace('one', 'one\nEvil: yes'),
    'a body that is too short': text.replace('\r\n\r\n', '\r\nContent-Length: 5\r\n\r\nabc'),
    'a length that is no number': text.replace('\r\n\r\n', '\r\nContent-Length: -1\r\n\r\n'),
    'too many headers': text.replace('\r\n\r\n', `${'\r\nX: 1'.repeat(130)}\r\n\r\n`),
    'a head that is too long': text.replace('one', 'o'.repeat(40_000)),
    'a header without a name': text.replace('Subject: one', ': one'),
  }
  t.not(read(text), null)
  for (const [name, message] of Object.entries(broken)) t.equal(read(message), null, name)
  t.end()
})

t.test('a SIP message with any changed or missing byte is parsed or refused without an exception', (t) => {
  const bytes = Buffer.from(`${text}${sdp()}`)
  for (let at = 0; at < bytes.length; at++) {
    for (const value of [0, 10, 13, 34, 44, 60, 62, 255]) {
      const changed = Buffer.from(bytes)
      changed[at] = value
      readMessage(changed)
      readSdp(changed.toString('latin1', text.length))
    }
    readMessage(bytes.subarray(0, at))
  }
  t.pass('no throw')
  t.end()
})

t.test('an SDP whose IPv6 address has a scope is refused', (t) => {
  for (const address of ['fe80::1%eth-0', '2001:4860::1%x-y', '2001:db8::1%1'])
    t.equal(readSdp(sdp().replace(/c=IN IP4 \S+/, `c=IN IP6 ${address}`)), null, address)
  t.end()
})

t.test('a long SIP header is parsed in linear time', (t) => {
  const filled = (part: string) => part.repeat(Math.floor(30_000 / part.length))
  const hostile = ['<', '"\\', '<"', ' ', '\\', ',', '"', '<a']
  const messages = hostile.flatMap((part) => [
    text.replace(';branch=z9hG4bK1', `;branch=z9hG4bK1;x=${filled(part)}`),
    text.replace('t: sip:d@e', `t: x${filled(part).slice(0, 2000)}x`),
  ])
  const { user: startUs } = process.cpuUsage()
  for (const message of messages) read(message)
  // With a parser whose time grew with the square of the length, sixteen messages took 2.5 s.
  t.ok(process.cpuUsage().user - startUs < 1_000_000)
  t.end()
})

t.test('a value that is written into a message cannot add a header or a second message', (t) => {
  const bytes = writeMessage('INVITE sip:a SIP/2.0', [['x-a', 'b\r\nEvil: yes\r\n\r\nbody']], 'real')
  t.equal(bytes.toString(), 'INVITE sip:a SIP/2.0\r\nX-A: b Evil: yes body\r\nContent-Length: 4\r\n\r\nreal')
  t.end()
})

t.test('a TCP stream is split into SIP messages wherever its chunks end', (t) => {
  const one = writeMessage(lines[0] ?? '', [['subject', 'ü']], 'body ü')
  const all = Buffer.concat([Buffer.from('\r\n\r\n'), one, Buffer.from('\r\n'), one])
  for (let at = 1; at < all.length; at++) {
    const framing = new Framing()
    const parts = [framing.take(all.subarray(0, at)), framing.take(all.subarray(at))]
    t.same(parts.flat(), [one, one], `cut at ${at}`)
  }
  t.equal(new Framing().take(Buffer.from(text)), 'broken', 'no length')
  t.equal(new Framing().take(Buffer.alloc(40_000, 65)), 'broken', 'no end')
  t.end()
})

t.test('malformed bytes close only their TCP connection, and other SIP traffic continues', async (t) => {
  const trunk = await openTrunk(t)
  const udp = createSocket('udp4')
  for (const bytes of ['', '\r\n\r\n', 'INVITE', text.slice(0, 60), `${text}x`.repeat(50), '\u0000'.repeat(2000)])
    udp.send(bytes, trunk.line.port, '127.0.0.1')
  const tcp = connect({ host: '127.0.0.1', port: trunk.line.port })
  tcp.on('error', () => {})
  tcp.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await once(tcp, 'close')
  udp.close()
  const peer = await trunk.peer()
  peer.send('OPTIONS', { callId: 'options' })
  await peer.response(200)
  t.same(trunk.logged, [])
})

const options = [
  'OPTIONS sip:+15550001111@127.0.0.1 SIP/2.0',
  'Via: SIP/2.0/UDP 127.0.0.1:5061;branch=z9hG4bK1;rport',
  'From: <sip:a@b>;tag=1',
  'To: <sip:d@e>',
  'Call-ID: abc@def',
  'CSeq: 7 OPTIONS',
  `User-Agent: ${'phone '.repeat(20)}`,
].join('\r\n')
for (const [name, code, message] of [
  ['a body that is too long', 413, `${options}\r\nContent-Length: 20000\r\n\r\n${'v'.repeat(20_000)}`],
  ['a body that is shorter than announced', 400, `${options}\r\nContent-Length: 5\r\n\r\nabc`],
  ['a CSeq of another method', 400, `${options.replace('7 OPTIONS', '7 BYE')}\r\n\r\n`],
  ['a CSeq that is too high', 400, `${options.replace('7 OPTIONS', '4294967296 OPTIONS')}\r\n\r\n`],
  ['an unknown transport in Via', 400, `${options.replace('/UDP', '/SCTP')}\r\n\r\n`],
  ['a line that is no header', 400, `${options}\r\nx\r\n\r\n`],
  ['too many headers', 513, `${options}${'\r\nX: 1'.repeat(130)}\r\n\r\n`],
  ['too many required extensions', 420, `${options}${'\r\nRequire: x'.repeat(130)}\r\n\r\n`],
  ['a head that is too long', 513, `${options}\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
] as const)
  t.test(`a SIP request with ${name} is answered ${code}`, async (t) => {
    const trunk = await openTrunk(t)
    const udp = createSocket('udp4')
    t.teardown(() => udp.close())
    udp.send(message, trunk.line.port, '127.0.0.1')
    const [answer] = (await once(udp, 'message')) as [Buffer]
    t.match(answer.toString(), new RegExp(`^SIP/2.0 ${code} [^]*Call-ID: abc@def\r\n`))
    t.ok(answer.length <= message.length)
  })

t.test('a TCP connection whose body is too long is answered 413 and closed', async (t) => {
  const trunk = await openTrunk(t)
  const tcp = connect({ host: '127.0.0.1', port: trunk.line.port })
  tcp.write(`${options}\r\nContent-Length: 20000\r\n\r\n`)
  const [answer] = (await once(tcp, 'data')) as [Buffer]
  t.match(answer.toString(), /^SIP\/2.0 413 /)
  await once(tcp, 'close')
})

t.test('an unreadable message gets no answer if its sender is unknown or the answer would be longer', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  const broken = `${options}\r\nx\r\n\r\n`
  peer.raw(broken.replaceAll('OPTIONS', 'ACK'))
  peer.raw(broken.replace('OPTIONS sip:+15550001111@127.0.0.1 SIP/2.0', 'SIP/2.0 200 OK'))
  for (const header of ['Via', 'From', 'To', 'Call-ID', 'CSeq']) peer.raw(broken.replace(`${header}:`, 'Other:'))
  peer.raw(broken.replace(/User-Agent.*\r\n/, ''))
  await quiet()
  t.same(peer.received, [])
})

t.test('a SIP request with port 0 as its response address does not disturb the server', async (t) => {
  const trunk = await openTrunk(t)
  const peer = await trunk.peer()
  for (const method of ['BYE', 'CANCEL', 'OPTIONS'])
    peer.raw(
      [
        `${method} sip:a@b SIP/2.0`,
        'Via: SIP/2.0/UDP 127.0.0.1:0;branch=z9hG4bK1',
        'From: <sip:a@b>;tag=1',
        'To: <sip:a@b>;tag=2',
        'Call-ID: nobody',
        `CSeq: 1 ${method}`,
        `Subject: ${'long '.repeat(50)}`,
        '',
        '',
      ].join('\r\n'),
    )
  peer.send('OPTIONS', { callId: 'options' })
  await peer.response(200)
  t.same(trunk.logged, [])
})
