/** For signature checks, an operation gets the body's exact bytes beside the parsed JSON (`x-raw-body` in the spec). */
import t, { type Test } from 'tap'
import type { Context, Input } from '../../runtime/engine/handler.ts'
import { overEngines } from '../engine/engines.ts'
import { jsonBody, mount, operation, raw, start, surface } from './harness.ts'

const operations = [
  operation('signed', 'post', '/v1/signed', { body: { ...jsonBody, required: false }, rawBody: true }),
  operation('unsigned', 'post', '/v1/unsigned', { body: jsonBody }),
]
const withRawBody = ({ body }: Input, { rawBody }: Context) => ({
  status: 200,
  body: { body: body ?? null, raw: rawBody && Buffer.from(rawBody).toString('hex') },
})

overEngines(t, (t) => {
  t.test('a handler that checks signatures gets the exact bytes', async (t) => {
    const server = await start(
      [mount(surface('main', ...operations), { signed: withRawBody, unsigned: withRawBody })],
      {
        uploadPort: 0,
      },
    )
    t.teardown(() => server.stop())
    await t.test("the server's main TCP port passes the exact bytes to the handler", (t) =>
      exactBytes(t, server.url, server.port),
    )
    await t.test('the TCP port for uploads passes the exact bytes to the handler', (t) =>
      exactBytes(t, server.uploadUrl, server.uploadPort as number),
    )
    t.strictSame(server.errors, [])
  })
})

async function exactBytes(t: Test, url: string, port: number): Promise<void> {
  const text = '{ "b":1e0,  "a":"\\u00e9é" }\n'
  const headers = { 'content-type': 'application/json' }
  const hex = Buffer.from(text).toString('hex')
  const sent = async (path: string, body: string | null) =>
    (await fetch(`${url}${path}`, { method: 'POST', body, headers })).json()
  t.strictSame(await sent('/v1/signed', text), { body: { a: 'éé', b: 1 }, raw: hex })
  t.strictSame(await sent('/v1/unsigned', text), { body: { a: 'éé', b: 1 }, raw: null })
  t.strictSame(await sent('/v1/signed', null), { body: null, raw: null })
  const pieces = [text.slice(0, 5), text.slice(5)].map(
    (piece) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`,
  )
  const head =
    'POST /v1/signed HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  const { text: answer } = await raw(port, `${head}${pieces.join('')}0\r\n\r\n`)
  t.match(answer, new RegExp(`"raw":"${hex}"`), 'a body of several chunks')
}
