/** Concurrency limits already apply before a body is read. */
import { randomUUID } from 'node:crypto'
import net from 'node:net'
import t from 'tap'
import { overEngines } from '../engine/engines.ts'
import { startOwnAdministered } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { ask, postJson, responses, type Target } from '../router/requests.ts'
import { loopbackProviders } from '../session/voice-session.ts'

const request = ask('Hello.', { routing: { mode: 'explicit', model: 'loopback/loopback' } })
const text = JSON.stringify(request)

overEngines(t, (t) => {
  t.test('a request over the concurrency limit is refused before its body is read', async (t) => {
    const { parley, admin } = await startOwnAdministered(t, { PARLEY_PROVIDERS: loopbackProviders })
    const { id } = await admin.organization('one at a time')
    const wanted = { organizationId: id, name: 'small', scopes: ['router'] as const, test: false }
    const made = await admin.store.keys.create({ ...wanted, policy: { maxConcurrency: 1 }, expiresAtMs: null })
    const target = { url: parley.url, key: made?.secret ?? '' }
    t.equal((await postJson(target, responses, request)).status, 200)

    const inFlight = () => parley.gateway.waiting(0).requests
    const first = begin(target, text.slice(0, 10))
    await until('the first body has begun', () => inFlight() === 1)
    const second = begin(target, '')
    await until('the second is answered', () => second.text.includes('\r\n\r\n'))
    t.match(second.text, /^HTTP\/1.1 429[\s\S]*concurrency_exhausted/)
    first.socket.write(text.slice(10))
    await until('the first is answered', () => first.text.includes('\r\n\r\n'))
    t.match(first.text, /^HTTP\/1.1 200/)
    for (const { socket } of [first, second]) socket.destroy()
    t.equal((await postJson(target, responses, request)).status, 200)

    const left = begin(target, text.slice(0, 10))
    await until('a body has begun', () => inFlight() === 1)
    left.socket.destroy()
    await until('its request has ended', () => inFlight() === 0)
    t.equal((await postJson(target, responses, request)).status, 200)
  })
})

type Begun = { socket: net.Socket; text: string }

/** Sends a request's head and the first characters of its body. */
function begin({ url, key }: Target, characters: string): Begun {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname).on('error', () => {})
  const begun: Begun = { socket, text: '' }
  socket.on('data', (chunk) => (begun.text += chunk.toString()))
  const lines = [
    `POST ${responses} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${key}`,
    `Idempotency-Key: ${randomUUID()}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(text)}`,
  ]
  socket.write(`${lines.join('\r\n')}\r\n\r\n${characters}`)
  return begun
}
