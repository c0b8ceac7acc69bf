import net from 'node:net'
import t, { type Test } from 'tap'
import type { Bytes, Context, Input } from '../../runtime/engine/handler.ts'
import { TestClock } from '../clock.ts'
import { overEngines } from '../engine/engines.ts'
import { wholeProcess } from '../time/quiet.ts'
import { operations } from './body-operations.ts'
import { cutOff, mount, raw, type Served, start, surface, until } from './harness.ts'
import { multipart, type PartText, send, sha256 } from './multipart.ts'

overEngines(t, (t) => {
  let runs = 0
  const releases: (() => void)[] = []
  const uploaded = ({ body }: Input, { contentHash }: Context) => {
    runs++
    const { request, audio } = body as { request: unknown; audio: Bytes }
    return {
      status: 200,
      body: {
        request,
        bytes: audio.bytes,
        contentType: audio.contentType,
        digest: sha256(...audio.chunks),
        contentHash,
      },
    }
  }
  const typed = ({ body }: Input) => ({ status: 200, body: (body as Bytes).contentType })
  const handlers = {
    form: ({ body }: Input) => {
      const { audio, ...texts } = body as { audio: Bytes }
      return { status: 200, body: { texts, bytes: audio.bytes } }
    },
    sound: typed,
    anything: typed,
    upload: uploaded,
    loose: uploaded,
    bytes: ({ body }: Input, { contentHash }: Context) => ({
      status: 200,
      body: { bytes: (body as Bytes).bytes, contentHash },
    }),
    json: ({ body }: Input) => ({ status: 200, body }),
    optional: ({ body }: Input, { contentHash }: Context) => ({
      status: 200,
      body: { hasBody: body !== undefined, contentHash },
    }),
    hold: () =>
      new Promise<{ status: number; body: unknown }>((resolve) =>
        releases.push(() => resolve({ status: 200, body: 'held' })),
      ),
  }
  const mounts = [mount(surface('main', ...operations), handlers)]

  const request = { name: 'request', type: 'application/json', body: '{"language":"dé"}' }
  const sound = Buffer.alloc(300_000, 'RIFF\r\n--a')
  const audio = { name: 'audio', file: 'a.wav', type: 'application/octet-stream', body: sound }

  /** Runs a test on the server's main TCP port and on its TCP port for uploads, because both must behave alike. */
  function onBoth(
    name: string,
    overrides: Parameters<typeof start>[1],
    test: (t: Test, url: string, port: number, server: Served) => Promise<void>,
  ) {
    t.test(name, async (t) => {
      const server = await start(mounts, { uploadPort: 0, ...overrides })
      t.teardown(() => server.stop())
      await t.test("the server's main TCP port reads request bodies", (t) => test(t, server.url, server.port, server))
      await t.test('the TCP port for uploads reads request bodies', (t) =>
        test(t, server.uploadUrl, server.uploadPort as number, server),
      )
      await until(() => server.inflight() === 0)
      t.strictSame(server.errors, [])
    })
  }

  onBoth('multipart parts are read in their order', {}, async (t, url) => {
    const good = await send(`${url}/v1/upload`, multipart('b', request, audio))
    const contentHash = sha256(request.body, sound)
    t.strictSame(good, {
      status: 200,
      headers: good.headers,
      body: {
        request: { language: 'dé' },
        bytes: sound.length,
        contentType: 'application/octet-stream',
        digest: sha256(sound),
        contentHash,
      },
    })
    const other = await send(
      `${url}/v1/upload`,
      multipart('other', request, audio),
      'multipart/form-data; boundary="other"',
    )
    t.equal(other.body['contentHash'], contentHash, 'another boundary is the same content')
    const asFile = await send(`${url}/v1/upload`, multipart('b', { ...request, file: 'r.json' }, audio))
    t.match(
      asFile,
      { status: 200, body: { request: { language: 'dé' }, contentHash } },
      'the JSON part can be a file too',
    )

    const anyOrder = [multipart('b', audio, request), multipart('b', { ...request, file: 'r.json' }, audio)]
    for (const body of anyOrder)
      t.match(await send(`${url}/v1/loose`, body), { status: 200, body: { digest: sha256(sound) } })
    t.match((await send(`${url}/v1/loose`, anyOrder[0] as Buffer)).body, { contentHash: sha256(sound, request.body) })
    t.match(await send(`${url}/v1/loose`, multipart('b', audio)), { status: 200 }, 'a part that is not required')
  })

  onBoth('invalid multipart bodies are refused with their fault', {}, async (t, url) => {
    const before = runs
    const cases: [string, Buffer | string, string, string | undefined][] = [
      ['wrong order', multipart('b', audio, request), 'invalid_parameter', 'request'],
      ['missing first part', multipart('b', audio), 'invalid_parameter', 'request'],
      ['missing last part', multipart('b', request), 'invalid_parameter', 'audio'],
      ['no part', multipart('b'), 'invalid_parameter', 'request'],
      ['twice', multipart('b', request, request, audio), 'invalid_parameter', 'request'],
      ['extra', multipart('b', request, audio, { name: 'more', body: 'x' }), 'invalid_parameter', 'more'],
      [
        'extra file',
        multipart('b', request, audio, { name: 'more', file: 'm', body: sound }),
        'invalid_parameter',
        'more',
      ],
      [
        'without a name',
        multipart('b', request, audio, { type: 'text/plain', body: 'x' }),
        'invalid_parameter',
        'body',
      ],
      ['without a header', multipart('b', request, audio, { body: 'x' }), 'malformed_body', undefined],
      [
        'bytes as text',
        multipart('b', request, { name: 'audio', type: 'audio/wav', body: 'x' }),
        'invalid_parameter',
        'audio',
      ],
      ['cut off', multipart('b', request, audio).subarray(0, -10), 'malformed_body', undefined],
      ['cut off in the first part', multipart('b', request, audio).subarray(0, 90), 'malformed_body', undefined],
      ['another boundary', multipart('c', request, audio), 'malformed_body', undefined],
      [
        'bad part header',
        '--b\r\nContent-Disposition\x00: form-data; name="request"\r\n\r\n{}\r\n--b--\r\n',
        'malformed_body',
        undefined,
      ],
      ['bad JSON', multipart('b', { ...request, body: '{' }, audio), 'malformed_body', undefined],
      ['unknown field', multipart('b', { ...request, body: '{"speed":1}' }, audio), 'invalid_parameter', '/speed'],
      [
        'large JSON',
        multipart('b', { ...request, body: `{"language":"${'x'.repeat(70_000)}"}` }, audio),
        'payload_too_large',
        'request',
      ],
      [
        'large file',
        multipart('b', request, { ...audio, body: Buffer.alloc(1_048_577) }),
        'payload_too_large',
        'audio',
      ],
    ]
    for (const [what, body, kind, param] of cases) {
      const refused = await send(`${url}/v1/upload`, body)
      t.match(refused.body, { kind, ...(param === undefined ? {} : { param }) }, what)
    }
    const incomplete = await send(`${url}/v1/upload`, multipart('b', audio))
    t.match(incomplete.body, { message: 'part request must be sent, and before part audio' })
    t.match(
      await send(`${url}/v1/upload`, 'x', 'multipart/form-data'),
      { status: 400, body: { kind: 'malformed_body' } },
      'no boundary',
    )
    t.match(await send(`${url}/v1/upload`, '{}', 'application/json'), { status: 415 })
    t.equal(runs, before, 'no handler ran')
    t.match(
      await send(`${url}/v1/upload`, multipart('b', request, { ...audio, body: Buffer.alloc(1_048_576) })),
      { status: 200 },
      'exactly the limit',
    )
  })

  onBoth('text parts are read as strings in any order, and undeclared parts are dropped', {}, async (t, url) => {
    const model = { name: 'model', body: 'é:1' }
    const times = ['word', 'segment'].map((body) => ({ name: 'times[]', type: 'text/plain; charset=utf-8', body }))
    const others = [
      { name: 'more', body: 'x' },
      { name: 'file2', file: 'm', body: sound },
    ]
    t.match(await send(`${url}/v1/form`, multipart('b', ...times, ...others, model, audio)), {
      status: 200,
      body: { texts: { model: 'é:1', format: 'json', 'times[]': ['word', 'segment'] }, bytes: sound.length },
    })
    const asFile = multipart('b', audio, { ...model, file: 'model.txt' }, { name: 'format', body: 'text' })
    const asRead = await send(`${url}/v1/form`, asFile)
    t.strictSame(asRead.body['texts'], { model: 'é:1', format: 'text' })
    const cases: [string, PartText[], string, string][] = [
      ['missing text', [audio], 'invalid_parameter', 'model'],
      ['missing bytes', [model], 'invalid_parameter', 'audio'],
      ['twice', [audio, model, model], 'invalid_parameter', 'model'],
      ['outside the set', [audio, model, { name: 'format', body: 'xml' }], 'invalid_parameter', '/format'],
      ['too often', [audio, model, ...times, ...times], 'invalid_parameter', '/times[]'],
      ['not UTF-8', [audio, { ...model, file: 'm', body: Buffer.from([0xff]) }], 'malformed_body', 'model'],
      ['large text', [audio, { ...model, body: 'x'.repeat(70_000) }], 'payload_too_large', 'model'],
      ['too many', Array.from({ length: 66 }, () => ({ name: 'more', body: 'x' })), 'invalid_parameter', 'body'],
    ]
    for (const [what, parts, kind, param] of cases) {
      t.match((await send(`${url}/v1/form`, multipart('b', ...parts))).body, { kind, param }, what)
    }
  })

  onBoth('with a media range an operation gets the unchanged bytes and media type', {}, async (t, url, port) => {
    const rate = 'audio/L16; rate=16000'
    t.match(await send(`${url}/v1/sound`, 'x', rate), { status: 200, body: rate })
    t.match(await send(`${url}/v1/sound`, 'x', 'text/plain'), { status: 415 })
    for (const type of [rate, 'application/json', 'multipart/form-data; boundary=b']) {
      t.match(await send(`${url}/v1/anything`, '{', type), { status: 200, body: type })
    }
    const untyped = await raw(port, 'POST /v1/anything HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx')
    t.match(untyped.text, /200 OK[\s\S]*""/, 'a body without a type')
  })

  onBoth('a request body that is not multipart is read', {}, async (t, url, port) => {
    t.match(await send(`${url}/v1/bytes`, sound, 'application/octet-stream'), {
      body: { bytes: sound.length, contentHash: sha256(sound) },
    })
    t.match(await send(`${url}/v1/optional`, '{}', 'application/json'), {
      body: { hasBody: true, contentHash: sha256('{}') },
    })
    const empty = await raw(port, 'POST /v1/optional HTTP/1.1\r\nHost: a\r\n\r\n')
    t.match(empty.text, /"hasBody":false,"contentHash":null/)
    t.match((await raw(port, 'POST /v1/json HTTP/1.1\r\nHost: a\r\n\r\n')).text, /malformed_body/)
    t.match(
      (await raw(port, 'POST /v1/json HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}')).text,
      /415/,
      'no content type',
    )
  })

  onBoth('a body that is too large is refused while it is sent', {}, async (t, url, port) => {
    const large = Buffer.alloc(4_000_000, 1)
    t.match(await send(`${url}/v1/bytes`, large, 'application/octet-stream'), {
      status: 413,
      body: { kind: 'payload_too_large' },
    })
    const chunked = new ReadableStream({
      pull(controller) {
        controller.enqueue(large.subarray(0, 500_000))
        if (++pulls === 8) controller.close()
      },
    })
    let pulls = 0
    const init = {
      method: 'POST',
      body: chunked,
      duplex: 'half',
      headers: { 'content-type': 'application/octet-stream' },
    } as RequestInit
    t.equal((await fetch(`${url}/v1/bytes`, init)).status, 413)

    // The client sends everything before it reads anything.
    const head = `POST /v1/bytes HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nContent-Length: ${large.length}\r\n\r\n`
    const next = 'POST /v1/optional HTTP/1.1\r\nHost: a\r\n\r\n'
    const { text } = await raw(port, Buffer.concat([Buffer.from(head), large, Buffer.from(next)]), 1000)
    t.match(text, /^HTTP\/1.1 413[\s\S]*"hasBody":false/, 'the connection goes on')
  })

  onBoth('uploads share a bounded memory', { limits: { uploadMemory: 600_000 } }, async (t, url, port, server) => {
    const first = send(`${url}/v1/hold`, sound, 'application/octet-stream')
    await until(() => releases.length === 1)
    const refused = await send(`${url}/v1/bytes`, Buffer.alloc(400_000), 'application/octet-stream')
    t.match(refused, { status: 503, body: { kind: 'overloaded' } })
    t.equal(refused.headers.get('retry-after'), '5')
    const stream = Buffer.concat([
      Buffer.from(
        'POST /v1/bytes HTTP/1.1\r\nHost: a\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n61a80\r\n',
      ),
      Buffer.alloc(400_000),
    ])
    t.match((await raw(port, stream)).text, /503 Service Unavailable/, 'counted as it arrives')
    releases.pop()?.()
    t.match(await first, { status: 200 })

    // However a request ends, the server must free its memory.
    const half = `POST /v1/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 500000\r\n\r\n`
    for (let i = 0; i < 4; i++) {
      await cutOff(port, Buffer.concat([Buffer.from(half), multipart('b', request, audio).subarray(0, 250_000)]), 50)
      await send(`${url}/v1/upload`, multipart('b', audio, request))
      await send(`${url}/v1/upload`, multipart('b', request, audio))
    }
    await until(() => server.inflight() === 0)
    t.match(await send(`${url}/v1/bytes`, Buffer.alloc(600_000), 'application/octet-stream'), { status: 200 })
  })

  const stallClock = new TestClock({ quiet: wholeProcess })
  onBoth(
    'a body that stalls is refused with 408, and its request ends',
    { clock: stallClock, limits: { bodyTimeoutMs: 200, uploadBodyTimeoutMs: 1000 } },
    async (t, _url, port, server) => {
      const begun =
        'POST /v1/json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{'
      const { text, isClosed } = await stallClock.during(raw(port, begun, 2000))
      t.match(text, /^HTTP\/1.1 408[\s\S]*request_timeout/)
      t.equal(text.match(/^Connection: close/gim)?.length, 1)
      t.ok(isClosed)
      await until(() => server.inflight() === 0)

      const left = net.connect(port, '127.0.0.1')
      left.write(begun)
      await until(() => server.inflight() === 1)
      left.destroy()
      await until(() => server.inflight() === 0)
      t.match(server.ended.at(-1), { operation: 'json', status: 499 })
    },
  )

  t.test('an upload at 4 KiB/s is accepted until the time limit for the whole body', async (t) => {
    const clock = new TestClock({ quiet: wholeProcess })
    const limits = { bodyTimeoutMs: 500, uploadBodyTimeoutMs: 1500 }
    const server = await start(mounts, { uploadPort: 0, clock, limits })
    t.teardown(() => clock.during(server.stop()))
    const body = multipart('b', request, { ...audio, body: sound.subarray(0, 4096) })
    const head = `POST /v1/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\n`

    // Sends 4 KiB/s, in pieces of 512 bytes.
    const drip = async (declared: number, pieces: Buffer[]): Promise<string> => {
      const socket = net.connect(server.uploadPort as number, '127.0.0.1')
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString()
      })
      socket.on('error', () => {})
      socket.write(`${head}Content-Length: ${declared}\r\n\r\n`)
      for (const piece of pieces) {
        if (text !== '') break
        socket.write(piece)
        await clock.advance(125)
      }
      await clock.until('an answer', () => text.includes('\r\n\r\n'))
      socket.destroy()
      return text
    }
    const pieces = Array.from({ length: Math.ceil(body.length / 512) }, (_, i) => body.subarray(i * 512, (i + 1) * 512))
    t.match(await drip(body.length, pieces), /^HTTP\/1.1 200[\s\S]*"bytes":4096/)
    t.match(
      await drip(100_000, Array(40).fill(Buffer.alloc(512, '-')) as Buffer[]),
      /^HTTP\/1.1 408/,
      'a whole body has a limit of time',
    )
  })

  onBoth('an unread body does not disturb the next request', {}, async (t, _url, port) => {
    const unwanted = `POST /v1/nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(200_000)}`
    const next = 'POST /v1/optional HTTP/1.1\r\nHost: a\r\n\r\n'
    t.match((await raw(port, unwanted + next)).text, /^HTTP\/1.1 404[\s\S]*HTTP\/1.1 200/)
  })

  onBoth('a client may disconnect at any byte of its request body', {}, async (t, url, port, server) => {
    const body = multipart('b', request, { ...audio, body: sound.subarray(0, 2000) })
    const head = `POST /v1/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${body.length}\r\n\r\n`
    const whole = Buffer.concat([Buffer.from(head), body])
    for (let end = 1; end <= whole.length; end += 61) {
      const socket = net.connect(port, '127.0.0.1')
      socket.on('error', () => {})
      await new Promise((resolve) => socket.write(whole.subarray(0, end), resolve))
      // Half of the clients close the connection, the other half reset it.
      if (end % 2) socket.destroy()
      else socket.resetAndDestroy()
    }
    await until(() => server.inflight() === 0)
    t.match(await send(`${url}/v1/upload`, multipart('b', request, audio)), { status: 200 })
  })
})
