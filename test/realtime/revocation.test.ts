/**
 * A revoked credential ends open sockets and event streams, in every process. Two servers over one database play two
 * processes.
 */
import t, { type Test } from 'tap'
import { runCommand } from '../command.ts'
import { openAdministration } from '../platform/setup.ts'
import { DatabaseRelay } from '../process/database-relay.ts'
import { until } from '../process/machine.ts'
import { postJson, type Target } from '../router/requests.ts'
import { ownServer } from '../server.ts'
import { Page, startSession } from '../session/voice-session.ts'
import { type Client, loopback, loopbackModel, open, start, subprotocol } from './socket.ts'

const settings = { PARLEY_PROVIDERS: loopback, PARLEY_MASTER_KEY: 'm'.repeat(32) }
const first = await ownServer(t, settings)
const second = await ownServer(t, { ...settings, DATABASE_URL: first.databaseUrl })
const admin = await openAdministration(first)
t.teardown(() => admin.close())

const scopes = ['realtime', 'platform'] as const
const at = (server: { url: string }, { key }: { key: string }): Target => ({ url: server.url, key })

/** Opens one socket for each realtime channel in each process. */
async function openSockets(caller: { key: string }): Promise<Client[]> {
  const config = { model: loopbackModel }
  const opened = [first, second].flatMap((server) => [
    start(at(server, caller), '/v1/transcribe/stream', config),
    start(at(server, caller), '/v1/synthesize/stream', config),
    open(at(server, caller), '/v1/realtime?intent=transcription', { protocols: [] }),
  ])
  return Promise.all(opened)
}

async function areRevoked(t: Test, clients: readonly Client[]): Promise<void> {
  for (const client of clients) t.equal(await client.closed, 4401)
  const errors = clients.flatMap((client) => client.frames('error'))
  t.equal(errors.length, (clients.length * 2) / 3, "the channel of OpenAI's clients has no error event for it")
  for (const error of errors) t.match(error, { code: 'REVOKED', retryable: false })
}

/** Fails if the socket has closed. */
async function isOpen(t: Test, client: Client): Promise<void> {
  client.send({ type: 'ping' })
  t.match(await client.take('pong'), { type: 'pong' })
}

/** Opens an event stream of webhook events. `ended` resolves at its end. */
async function openEvents(target: Target): Promise<{ ended: Promise<string> }> {
  const answer = await fetch(`${target.url}/v1/webhook-events/stream`, {
    headers: { authorization: `Bearer ${target.key}` },
  })
  t.equal(answer.status, 200)
  return { ended: answer.text() }
}

t.test("the command `keys revoke` closes the key's sockets with 4401 in every process", async (t) => {
  const acme = await admin.organization('acme', { scopes })
  const other = await admin.key(acme.id, { scopes })
  const sockets = await openSockets(acme)
  const kept = await start(at(second, other), '/v1/transcribe/stream', { model: loopbackModel })
  t.equal((await runCommand(first, ['keys', 'revoke', acme.keyId, '--org', acme.id])).code, 0)
  await areRevoked(t, sockets)
  await isOpen(t, kept)
})

t.test("the command `keys rotate` closes the old secret's sockets with 4401 in every process", async (t) => {
  const acme = await admin.organization('rotated', { scopes })
  const other = await admin.key(acme.id, { scopes })
  const sockets = await openSockets(acme)
  const events = await openEvents(at(second, acme))
  const page = await Page.join(at(first, acme))
  const kept = await start(at(second, other), '/v1/transcribe/stream', { model: loopbackModel })
  const rotate = (...more: string[]) => runCommand(first, ['keys', 'rotate', acme.keyId, '--org', acme.id, ...more])
  const rotated = await rotate()
  await areRevoked(t, sockets)
  await events.ended
  await isOpen(t, kept)
  t.equal(page.closed, null, 'a session has a separate token, and goes on')
  const renewed = await openSockets({ key: rotated.stdout.trim() })
  t.equal((await rotate('--overlap', '1h')).code, 0)
  for (const socket of renewed.filter((_, channel) => channel % 3 !== 2)) await isOpen(t, socket)
  t.equal((await rotate()).code, 0)
  await areRevoked(t, renewed)
})

t.test('the removal of a user closes the sockets that the tokens of the user have opened', async (t) => {
  const { id } = await admin.organization('users', { scopes })
  const { users } = admin.store
  await users.create(id, 'ann@example.com', 'admin')
  const user = { key: (await users.issue(id, 'ann@example.com', 'user_token'))?.secret ?? '' }
  const minted = await postJson(at(first, user), '/v1/realtime/sessions', {})
  const { client_secret: secret } = minted.json<{ client_secret: { value: string } }>()
  const protocols = [subprotocol, `service.ephemeral.${secret.value}`]
  const socket = await open(at(second, user), '/v1/transcribe/stream', { headers: {}, protocols })
  await users.create(id, 'ann@example.com', 'member')
  await isOpen(t, socket)
  await users.remove(id, 'ann@example.com')
  t.equal(await socket.closed, 4401)
})

t.test('the command `org disable` closes all sockets and event streams of the organization', async (t) => {
  const acme = await admin.organization('disabled', { scopes })
  const stranger = await admin.organization('enabled', { scopes })
  const sockets = await openSockets(acme)
  const pages = [await Page.join(at(first, acme)), await Page.join(at(second, acme))]
  const events = await openEvents(at(second, acme))
  const session = await startSession(at(second, acme))
  const kept = await start(at(first, stranger), '/v1/transcribe/stream', { model: loopbackModel })
  t.equal((await runCommand(first, ['org', 'disable', acme.id])).code, 0)
  await areRevoked(t, sockets)
  for (const page of pages) {
    await until('the media channel is closed', () => page.closed !== null)
    t.equal(page.closed, 4401)
    t.match(page.all('error'), [{ code: 'REVOKED', fatal: true }])
    t.same(page.all('end'), [], 'the session waits for another socket, and gets none')
  }
  t.notMatch(await events.ended, /event: end/)
  const late = new Page(session)
  await until('a new socket is refused', () => late.closed !== null)
  await isOpen(t, kept)
})

t.test('a revoked key is noticed even if no notification of the database arrives', async (t) => {
  const relay = await DatabaseRelay.start(first.databaseUrl)
  t.teardown(() => relay.close())
  const behind = await ownServer(t, { ...settings, DATABASE_URL: relay.url, PARLEY_STORE_KEY_CACHE_MS: '1000' })
  const acme = await admin.organization('forgotten', { scopes })
  const socket = await start(at(behind, acme), '/v1/transcribe/stream', { model: loopbackModel })
  relay.silenceListening()
  t.equal((await runCommand(first, ['keys', 'revoke', acme.keyId, '--org', acme.id])).code, 0)
  t.equal(await socket.closed, 4401)
})
