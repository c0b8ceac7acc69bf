/**
 * Requests byte by byte, each with its expected result. The rules are in RFC 9110 (5.5, 5.6.2) and RFC 9112 (2.2, 3.2,
 * 5, 6, 7.1). A string is Latin-1: a character is a byte.
 */

/**
 * `uws20` is uWebSockets.js' build for Node 20. The setting `auto` never chooses it: see runtime/server/choose.ts.
 * `uploads` is the TCP port for uploads, which node:http serves.
 */
export type Build = 'node' | 'uploads' | 'uws' | 'uws20'

/**
 * The result for a request, alone and with another one after it in the same bytes:
 *
 *   served        200.
 *   answered      any status, within a second.
 *   refused       400 or a higher status, or no answer; the connection closes within a second; the other never runs.
 *   hides nothing refused if another request comes after it. Alone it may be served: uWebSockets.js misses the fault.
 *   timed out     refused, after the limit for a body without progress.
 *   silent        refused, but only after 10 s: uWebSockets.js treats a complete head as an unfinished one.
 */
export type Result = 'served' | 'answered' | 'refused' | 'hides nothing' | 'timed out' | 'silent'

export type Case = { what: string; bytes: string; results: Record<Build, Result> }

const json = 'Content-Type: application/json'

type Overrides = Partial<Record<Build, Result>>

function expect(what: string, bytes: string, result: Result, overrides: Overrides = {}): Case {
  const node = overrides.node ?? result
  const uws = overrides.uws ?? result
  return {
    what,
    bytes,
    results: { node, uploads: overrides.uploads ?? node, uws, uws20: overrides.uws20 ?? uws },
  }
}

/** Makes a request with these lines in its head, after Host and Content-Type. */
function post(lines: string, body: string, first = 'POST /v1/take HTTP/1.1'): string {
  return `${first}\r\nHost: a\r\n${json}\r\n${lines}\r\n\r\n${body}`
}

const plainly = 'Content-Length: 2'
const chunks = '2\r\n{}\r\n0\r\n\r\n'
const quote = (text: string) => JSON.stringify(text)

function contentLengths(): Case[] {
  const refused = ['+2', '-2', '0x2', '2 2', '2,2', '2, 2', '2;', '2.0', '', '2\\', '"2"', '2\x7f', '\x7f2']
  const huge = ['99999999999999999999', '18446744073709551618', '9999999999999999']
  const bytesAbove = ['\x802', '2\x80', '\xa02', '2\xa0', '\xff2', '2\xff', '\x852', '2\x85']
  const controls = ['2\x00', '\x002', '2\x01', '\x012', '2\x0b', '\x0b2', '2\x0c', '2\x1f', '2\nX: a']
  const bareReturns = ['2\r', '2\rX: a']
  const row = (result: Result, overrides: Overrides) => (value: string) =>
    expect(`Content-Length: ${quote(value)}`, post(`Content-Length: ${value}`, '{}'), result, overrides)
  return [
    ...[...refused, ...huge].map(row('refused', {})),
    ...bytesAbove.map(row('refused', { uws: 'hides nothing' })),
    ...controls.map(row('refused', { uws20: 'silent' })),
    ...bareReturns.map(row('refused', { uws: 'silent' })),
    ...['2', '02', '0002', ' 2', '2 ', '\t 2'].map(row('served', {})),
  ]
}

function transferEncodings(): Case[] {
  const refused = ['xchunked', 'chunked,', ',chunked', 'chunked, chunked', 'identity', 'identity, chunked']
  const odd = ['gzip, chunked', 'chunked, gzip', 'chunked;q=1', '"chunked"', 'chunk', '', 'chu\tnked', 'chunked\x7f']
  const bytesAbove = ['\x80chunked', 'chunked\x80', '\xa0chunked', 'chunked\xa0', '\xffchunked', 'chunked\xff']
  const controls = ['chunked\x00', '\x00chunked', 'chunked\x0b', '\x0bchunked', '\r\n chunked', 'chunked\nX: a']
  const bareReturns = ['chunked\r', 'chunked\rX: a']
  const alone = (result: Result, overrides: Overrides) => (value: string) =>
    expect(`Transfer-Encoding: ${quote(value)}`, post(`Transfer-Encoding: ${value}`, chunks), result, overrides)
  const beside = (overrides: Overrides) => (value: string) => {
    const lines = `Content-Length: ${chunks.length}\r\nTransfer-Encoding: ${value}`
    return expect(`Content-Length beside Transfer-Encoding: ${quote(value)}`, post(lines, chunks), 'refused', overrides)
  }
  return [
    ...[...refused, ...odd].flatMap((value) => [alone('refused', {})(value), beside({})(value)]),
    ...bytesAbove.flatMap((value) => [alone('refused', { uws: 'hides nothing' })(value), beside({})(value)]),
    ...controls.flatMap((value) => [alone('refused', { uws20: 'silent' })(value), beside({ uws20: 'silent' })(value)]),
    ...bareReturns.flatMap((value) => [alone('refused', { uws: 'silent' })(value), beside({ uws: 'silent' })(value)]),
    ...['chunked', 'Chunked', 'CHUNKED'].flatMap((value) => [alone('served', {})(value), beside({})(value)]),
    expect(
      'two Transfer-Encoding',
      post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', chunks),
      'refused',
    ),
    expect('two Content-Length', post('Content-Length: 2\r\nContent-Length: 38', '{}'), 'refused'),
    expect('two equal Content-Length', post('Content-Length: 2\r\nContent-Length: 2', '{}'), 'refused'),
    expect('chunked in HTTP/1.0', post('Transfer-Encoding: chunked', chunks, 'POST /v1/take HTTP/1.0'), 'refused', {
      node: 'hides nothing',
    }),
  ]
}

/** Makes requests with header names that another reader could mistake for a framing header. */
function disguisedNames(): Case[] {
  const rows: Case[] = []
  for (const [name, value, other] of [
    ['Content-Length', '2', ''],
    ['Transfer-Encoding', 'chunked', `Content-Length: ${chunks.length}\r\n`],
  ] as const) {
    const [body, middle] = value === '2' ? ['{}', name.indexOf('-')] : [chunks, name.indexOf('-')]
    const spliced = (byte: string) => name.slice(0, middle) + byte + name.slice(middle + 1)
    const row = (text: string, overrides: Overrides) =>
      expect(`a line ${quote(text)}`, post(`${other}${text}: ${value}`, body), 'refused', overrides)
    for (const text of [
      ...[`${name} `, ` ${name}`, `\t${name}`, `${name}\t`, `${name}\x00`, `${name}\x0b`, `"${name}"`, `${name},X`],
      ...[`${name}\x80`, `\x80${name}`, `\xff${name}`, spliced('\x80'), `${name}\r`, `${name}\n`],
      ...[`X: a\n${name}`, `X: a\r\n ${name}`, `X: a\n\r\n${name}`, `X a\r\n${name}`],
    ])
      rows.push(row(text, { uws20: 'silent' }))
    for (const text of [`X: a\r${name}`, `X: a\r\r\n${name}`]) rows.push(row(text, { uws: 'silent' }))
    rows.push(row(spliced('_'), { uws20: 'silent' }), row(spliced('_').toLowerCase(), { uws20: 'silent' }))
  }
  return rows
}

/**
 * Makes requests with chunked bodies. uWebSockets.js reads chunk sizes and line breaks loosely, so the server closes
 * the connection after a chunked body.
 */
function chunkedBodies(): Case[] {
  const row = (result: Result, overrides: Overrides) => (body: string) =>
    expect(`chunks ${quote(body)}`, post('Transfer-Encoding: chunked', body), result, overrides)
  const whole = [chunks, '0002\r\n{}\r\n00\r\n\r\n', '1\r\n{\r\n1\r\n}\r\n0\r\n\r\n', 'A\r\n {       }\r\n0\r\n\r\n']
  const broken = [
    '2\n{}\r\n0\r\n\r\n',
    '2\r\n{}\n0\r\n\r\n',
    '2\r\n{}\r\n0\n\n',
    '2\r{}\r\n0\r\n\r\n',
    '2\r\n{}0\r\n\r\n',
  ]
  const loose = ['2\r\n{}XX0\r\n\r\n', '2\r\n{}XXX0\r\n\r\n', '2\r\n{}}\r\n0\r\n\r\n', '2\r\n{}\r\n0XX\r\n']
  const sizes = ['0x2', '+2', '-2', '2 ', ' 2', '2\t', '2\x80', '\x802', 'g', '', '10000000000000002']
  const cut = ['5\r\n{}', '2\r\n{}\r\n0', '2\r\n{}\r\n', '100000000\r\n{}', '80000000\r\n{}', '10000000000\r\n{}', '2']
  return [
    ...whole.map(row('served', {})),
    ...[...broken, ...loose].map(row('refused', { uws: 'hides nothing' })),
    row('timed out', { uws: 'hides nothing' })('2\r\n{}\r\n0\r\nXX'),
    ...sizes.map((size) => `${size}\r\n{}\r\n0\r\n\r\n`).map(row('refused', { uws: 'hides nothing' })),
    row('refused', { uws: 'timed out' })('2g\r\n{}\r\n0\r\n\r\n'),
    ...['2;\n{}\r\n0\r\n\r\n', '2;\r{}\r\n0\r\n\r\n', '2;\r\n{}\r\n0\r\n\r\n'].map(
      row('refused', { uws: 'timed out' }),
    ),
    row('served', { uws: 'timed out' })('2;a=b\r\n{}\r\n0\r\n\r\n'),
    row('served', { uws: 'timed out' })('2\r\n{}\r\n0;a=b\r\n\r\n'),
    row('served', { uws: 'refused' })('2\r\n{}\r\n0\r\nX: a\r\n\r\n'),
    ...['2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n', '2\r\n{}\r\n0\r\nX a\r\n\r\n'].map(
      row('refused', { uws: 'hides nothing' }),
    ),
    ...cut.map((body) => ({ ...row('timed out', {})(body), what: `cut off: ${quote(body)}` })),
    expect('a body that is cut off', post('Content-Length: 3', '{}'), 'timed out'),
  ]
}

function firstLines(): Case[] {
  const row = (result: Result, overrides: Overrides) => (line: string) =>
    expect(`first line ${quote(line)}`, post(plainly, '{}', line), result, overrides)
  const versions = ['1.0', '0.9', '2.0', '1.2', '3', '11', '1.1 ', '1.1\r'].map((each) => `POST /v1/take HTTP/${each}`)
  const blanks = [
    'POST\t/v1/take HTTP/1.1',
    ' POST /v1/take HTTP/1.1',
    'POST /v1/ta ke HTTP/1.1',
    'POST /v1/take http/1.1',
  ]
  const controls = ['POST\x00 /v1/take HTTP/1.1', 'POST /v1/take\x00 HTTP/1.1', 'POST /v1/take?\x01 HTTP/1.1']
  const targets = ['POST v1/take HTTP/1.1', 'CONNECT a:80 HTTP/1.1', 'PRI * HTTP/2.0', 'POST http://b/v1/take HTTP/1.1']
  const methods = ['M-SEARCH', 'TRACE', 'DELETE'].map((method) => `${method} /v1/take HTTP/1.1`)
  const paths = ['//v1/take', '/v1/%74ake', '/v1/take#x', '/v1/take/..', '/v1/take\\'].map(
    (path) => `POST ${path} HTTP/1.1`,
  )
  return [
    ...[...versions.slice(1), ...blanks, ...controls, ...targets].map(row('refused', {})),
    row('served', { uws: 'refused' })('POST /v1/take HTTP/1.0'),
    row('refused', { uws: 'silent', uws20: 'refused' })('POST /v1/take'),
    row('served', { uws: 'refused' })('POST  /v1/take HTTP/1.1'),
    row('served', { uws: 'silent', uws20: 'refused' })('\r\nPOST /v1/take HTTP/1.1'),
    row('served', { uws: 'refused' })('POST http://a/v1/take HTTP/1.1'),
    row('answered', { uws: 'refused' })('POST * HTTP/1.1'),
    row('refused', { uws: 'served' })('post /v1/take HTTP/1.1'),
    row('refused', { uws: 'answered' })('PO(ST /v1/take HTTP/1.1'),
    ...[...methods, ...paths].map(row('answered', {})),
  ]
}

function hosts(): Case[] {
  const head = (lines: string) => `POST /v1/take HTTP/1.1\r\n${lines}${json}\r\n${plainly}\r\n\r\n{}`
  const row = (result: Result, overrides: Overrides) => (host: string) =>
    expect(`Host: ${quote(host)}`, head(`Host: ${host}\r\n`), result, overrides)
  return [
    ...['', 'a:80', '[::1]', '[::1]:80', 'a-b.c_d', '127.0.0.1', 'a,b'].map(row('served', {})),
    ...['a b', 'a/b', 'a@b', 'a#', 'a?b', 'a\\b', 'a"b', 'a<b', 'a\x7fb', 'a\xe9b'].map(row('refused', {})),
    ...['a\x00', 'a\r\n b', 'a\x01'].map(row('refused', { uws20: 'silent' })),
    expect('no Host', head(''), 'refused'),
    expect('two Host', head('Host: a\r\nHost: b\r\n'), 'refused'),
    expect('two equal Host', head('Host: a\r\nHost: a\r\n'), 'refused'),
  ]
}

const special = "!#$%&'*+.^_`|~"

/**
 * Makes a request for each byte in a header name. A byte allowed by RFC 9110, 5.6.2 is accepted, and every other byte
 * is refused.
 */
function headerNames(): Case[] {
  const rows: Case[] = []
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    const isLegal = /[0-9A-Za-z-]/.test(byte)
    // A colon is not a part of the name. It ends the name.
    const result = isLegal || byte === ':' || special.includes(byte) ? 'served' : 'refused'
    const names =
      byte === ':' ? ['X:A'] : code > 32 && code < 128 ? [`X${byte}A`, `${byte}X`, `X${byte}`] : [`X${byte}A`]
    for (const name of names)
      rows.push(
        expect(
          `header name ${quote(name)}`,
          post(`${name}: b\r\n${plainly}`, '{}'),
          result,
          isLegal || byte === ':' ? {} : { uws20: 'silent' },
        ),
      )
  }
  return [
    ...rows,
    // For uWebSockets.js an empty name ends the header lines: it sees no body here, and treats the rest as another
    // request.
    expect('an empty header name', post(`: b\r\n${plainly}`, '{}'), 'refused', { uws: 'hides nothing' }),
    expect('a header line without a colon', post(`X\r\n${plainly}`, '{}'), 'refused', { uws20: 'silent' }),
  ]
}

function headerValues(): Case[] {
  const rows: Case[] = []
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code)
    const isControl = code < 32 && byte !== '\t'
    const overrides: Overrides = byte === '\r' ? { uws: 'silent' } : isControl ? { uws20: 'silent' } : {}
    // DEL is legal nowhere. uWebSockets.js passes it on, which does no harm, because no code here reads it.
    if (code === 0x7f) overrides.uws = 'served'
    const result = isControl || code === 0x7f ? 'refused' : 'served'
    rows.push(expect(`a value with byte ${code}`, post(`X-A: a${byte}b\r\n${plainly}`, '{}'), result, overrides))
  }
  return [
    ...rows,
    expect('obs-fold', post(`X: a\r\n b\r\n${plainly}`, '{}'), 'refused', { uws20: 'silent' }),
    expect('obs-fold with a tab', post(`X: a\r\n\tb\r\n${plainly}`, '{}'), 'refused', { uws20: 'silent' }),
    expect('a fold before the first line', post(plainly, '{}').replace('Host', ' Host'), 'refused', {
      uws20: 'silent',
    }),
    expect('bare line feeds', post(plainly, '{}').replaceAll('\r\n', '\n'), 'refused'),
    expect('a bare line feed at the end', post(plainly, '{}').replace('\r\n\r\n', '\n\n'), 'refused', {
      uws20: 'silent',
    }),
    expect('a bare line feed after the head', post(plainly, '{}').replace('\r\n\r\n', '\r\n\n'), 'refused', {
      uws20: 'silent',
    }),
  ]
}

function sizes(): Case[] {
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `X-${at}: 1\r\n`).join('')
  return [
    expect('a head of 12 KB', post(`X: ${'x'.repeat(12_000)}\r\n${plainly}`, '{}'), 'served'),
    expect('a head of 200 KB', post(`X: ${'x'.repeat(200_000)}\r\n${plainly}`, '{}'), 'refused'),
    expect('a target of 200 KB', post(plainly, '{}', `POST /v1/take?${'x'.repeat(200_000)} HTTP/1.1`), 'refused'),
    expect('90 header lines', post(lines(85) + plainly, '{}'), 'served'),
    expect('5000 header lines', post(lines(5000) + plainly, '{}'), 'refused'),
  ]
}

const socket = 'Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13'

function connections(): Case[] {
  return [
    expect('Expect: 100-continue', post(`Expect: 100-continue\r\n${plainly}`, '{}'), 'served'),
    expect('an upgrade to HTTP/2', post(`Connection: Upgrade\r\nUpgrade: h2c\r\n${plainly}`, '{}'), 'served'),
    expect('an upgrade by POST', post(`Connection: Upgrade\r\n${socket}\r\n${plainly}`, '{}'), 'answered'),
    expect('not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 'refused'),
  ]
}

/**
 * Makes requests that are still being served when an upgrade follows in the same bytes. The upgrade would take over a
 * connection while its answer is still unwritten. The TCP port for uploads has no upgrades: there the upgrade is a
 * request, and waits for its turn.
 */
function upgradesBehindRequests(): Case[] {
  const slow = 'GET /v1/slow HTTP/1.1\r\nHost: a\r\n\r\n'
  const slowTake = post(plainly, '{}', 'POST /v1/slow-take HTTP/1.1')
  const atOnce = 'GET /v1/at-once HTTP/1.1\r\nHost: a\r\n\r\n'
  const upgrade = (lines: string) => `GET /v1/talk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${lines}\r\n\r\n`
  const upgrades = [
    ['websocket', upgrade(socket)],
    ['h2c', upgrade('Upgrade: h2c')],
    ['h2c with a body', post(`Connection: Upgrade\r\nUpgrade: h2c\r\n${plainly}`, '{}')],
  ] as const
  const waits: Overrides = { uploads: 'served' }
  return upgrades.flatMap(([protocol, bytes]) => [
    expect(`a request still being served, then an upgrade to ${protocol}`, slow + bytes, 'refused', waits),
    expect(`a body still being served, then an upgrade to ${protocol}`, slowTake + bytes, 'refused', waits),
    expect(`two requests still being served, then an upgrade to ${protocol}`, slow + slow + bytes, 'refused', waits),
    // node:http reads both requests before it writes the answer.
    expect(`a request answered at once, then an upgrade to ${protocol}`, atOnce + bytes, 'served', {
      node: 'refused',
      ...waits,
    }),
  ])
}

export const cases: readonly Case[] = [
  ...upgradesBehindRequests(),
  ...contentLengths(),
  ...transferEncodings(),
  ...disguisedNames(),
  ...chunkedBodies(),
  ...firstLines(),
  ...hosts(),
  ...headerNames(),
  ...headerValues(),
  ...sizes(),
  ...connections(),
]
