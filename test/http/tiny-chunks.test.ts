/** A body in very many chunks of a byte or two is refused: each chunk costs memory and time. */
import t, { type Test } from 'tap'
import { overEngines } from '../engine/engines.ts'
import { jsonBody, mount, operation, raw, start, surface } from './harness.ts'

const take = operation('take', 'post', '/v1/take', { body: jsonBody })
const head = `POST /v1/take HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
const end = '0\r\n\r\n'

overEngines(t, (t) => {
  t.test('a body in very many chunks of one byte is refused', async (t) => {
    const mounted = mount(surface('main', take), { take: () => ({ status: 200, body: {} }) })
    const server = await start([mounted], { uploadPort: 0 })
    t.teardown(() => server.stop())
    await t.test("the server's main TCP port refuses tiny chunks", (t) => sends(t, server.port))
    await t.test('the TCP port for uploads refuses tiny chunks', (t) => sends(t, server.uploadPort as number))
  })
})

async function sends(t: Test, port: number): Promise<void> {
  const few = await raw(port, head + '1\r\n1\r\n'.repeat(200) + end, 1000)
  t.match(few.text, /^HTTP\/1.1 200/)
  const many = await raw(port, head + '1\r\n1\r\n'.repeat(20_000) + end, 5000)
  t.match(many.text, /^HTTP\/1.1 400[\s\S]*chunks of too few bytes/)
  t.ok(many.isClosed)
  const larger = await raw(port, head + `14\r\n${' '.repeat(20)}\r\n`.repeat(2000) + `2\r\n{}\r\n${end}`, 1000)
  t.match(larger.text, /^HTTP\/1.1 200/)
}
