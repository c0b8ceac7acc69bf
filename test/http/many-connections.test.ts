/** node:http: very many connections or requests of one client do not delay others, and lose no answer. */
import net from 'node:net'
import t from 'tap'
import { Endings } from '../../runtime/listeners/node/endings.ts'
import { settled } from '../clock.ts'
import { mount, operation, raw, start, surface } from './harness.ts'

const operations = [operation('atOnce', 'get', '/v1/at-once'), operation('later', 'get', '/v1/later')]
const handlers = {
  atOnce: () => ({ status: 200, body: 'at once' }),
  later: async () => {
    await settled()
    return { status: 200, body: 'later' }
  },
}

t.test('if very many idle connections are closed, 100 connections are closed at a time', async (t) => {
  const endings = new Endings()
  const sockets = Array.from({ length: 250 }, () => new net.Socket())
  const ended = () => sockets.filter(({ destroyed }) => destroyed).length
  for (const socket of [...sockets, ...sockets]) endings.add(socket, false)
  t.equal(ended(), 0)
  for (const expected of [100, 200, 250]) {
    await settled()
    t.equal(ended(), expected)
  }
})

t.test('an idle connection closes without an answer, and a late request is answered 408', async (t) => {
  for (const [answers, expected] of [
    [false, ''],
    [true, 'HTTP/1.1 408'],
  ] as const) {
    const endings = new Endings()
    const server = net.createServer((socket) => socket.once('data', () => endings.add(socket, answers)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => server.close())
    const { port } = server.address() as net.AddressInfo
    const client = net.connect(port, '127.0.0.1', () => client.write('GET'))
    let text = ''
    client.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await new Promise((resolve) => client.on('close', resolve))
    t.equal(text.slice(0, expected.length || undefined), expected)
  }
})

for (const path of ['/v1/at-once', '/v1/later'])
  t.test(
    `if a client sends too many requests for ${path} at once, some are answered before the connection closes`,
    async (t) => {
      const server = await start([mount(surface('main', ...operations), handlers)], { engine: 'node' })
      t.teardown(() => server.stop())
      const { text, isClosed } = await raw(server.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(50), 2000)
      t.equal(text.match(/HTTP\/1.1 200/g)?.length, 16)
      t.ok(text.endsWith(path === '/v1/later' ? '"later"' : '"at once"'), 'the last answer is whole')
      t.ok(isClosed)
      t.equal(
        (await raw(server.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(10))).text.match(/HTTP\/1.1 200/g)
          ?.length,
        10,
      )
    },
  )
