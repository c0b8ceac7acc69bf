/** A revoked key stops within 2 s on every node. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { until } from '../process/machine.ts'
import { send } from '../router/requests.ts'
import { ownServer } from '../server.ts'

const stoppedMsMax = 2_000

t.test('both of two nodes refuse a revoked API key within 2 s', async (t) => {
  const first = await ownServer(t)
  const second = await ownServer(t, { DATABASE_URL: first.databaseUrl })
  const command = async (...args: string[]) => (await runCommand(first, args)).stdout.trim()
  const organization = /org_\w+/.exec(await command('org', 'list'))?.[0] ?? ''
  const key = await command('keys', 'create', '--org', organization)
  const statusAt = async ({ url }: { url: string }) => (await send({ url, key }, '/router/v1/models')).status
  for (const node of [first, second]) t.equal(await statusAt(node), 200, 'it works')
  const rows = (await command('keys', 'list', '--org', organization)).split('\n')
  const id = /key_\w+/.exec(rows.at(-1) ?? '')?.[0] ?? ''
  await command('keys', 'revoke', id, '--org', organization)
  const revokedMs = performance.now()
  for (const node of [first, second]) await until('it is refused', async () => (await statusAt(node)) === 401)
  const tookMs = performance.now() - revokedMs
  t.ok(tookMs < stoppedMsMax, `${tookMs.toFixed(0)} ms`)
})
