/** The operator's command that revokes an API key ends the key's sockets in two processes of the built program. */
import t from 'tap'
import { testKey } from '../installation.ts'
import { loopbackModel, start } from '../realtime/socket.ts'
import { TestCluster } from '../store/cluster.ts'
import { runParley } from './command.ts'
import { pair } from './pair.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

t.test('the command `keys revoke` closes the sockets of an API key in two processes', async (t) => {
  const databaseUrl = await cluster.database('empty')
  const nodes = await pair(t, cluster, { DATABASE_URL: databaseUrl })
  const [{ dataDir }] = nodes
  const command = (...args: string[]) => runParley(args, { dataDir, env: { DATABASE_URL: databaseUrl } })
  const made = await command('keys', 'create', '--org', 'local', '--name', 'leaked', '--scopes', 'realtime', '--json')
  const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string }
  const open = (key: string) =>
    Promise.all(nodes.map(({ url }) => start({ url, key }, '/v1/transcribe/stream', { model: loopbackModel })))
  const [leaked, kept] = [await open(secret), await open(testKey)]
  t.equal((await command('keys', 'revoke', id, '--org', 'local')).code, 0)
  for (const socket of leaked) {
    t.equal(await socket.closed, 4401)
    t.match(socket.received.at(-1)?.frame, { type: 'error', code: 'REVOKED' })
  }
  for (const socket of kept) {
    socket.send({ type: 'ping' })
    await socket.take('pong')
  }
})
