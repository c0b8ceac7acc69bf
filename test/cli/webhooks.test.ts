/** The commands for webhook endpoints. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { call } from '../platform/setup.ts'
import { create, type Webhook } from '../platform/webhooks.ts'
import { startAdministered } from './administered.ts'
import { outputOf } from './output.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t)

const runner = (key: string) => {
  const env = { PARLEY_API_KEY: key, PARLEY_URL: parley.url }
  return (...args: string[]) => runCommand(parley, ['webhooks', ...args], env)
}
t.test('`webhooks list` prints each endpoint without the secrets in its URL', async (t) => {
  const acme = await admin.organization('listing')
  const command = runner(acme.key)
  t.equal(await outputOf(t, command('list')), 'no endpoints')
  const url = 'https://hooks.example/run?token=k4n4ry'
  const made = await create(acme, { name: 'a\u001b[2Jb', url, filterTags: { team: 'shop' } })
  const { id } = made.json<Webhook>()
  const row = new RegExp(`^ {2}${id} .*https://hooks.example/run +report +all +team=shop +enabled`, 'm')
  const listed = await outputOf(t, command('list'))
  t.match(listed, row)
  t.notMatch(listed, '\u001b')
  t.notMatch(listed, 'k4n4ry')
  await call(acme, 'PATCH', `/v1/webhooks/${id}`, { disabled: true })
  t.match(await outputOf(t, command('list')), /manual$/m)
  const { data } = JSON.parse(await outputOf(t, command('list', '--json'))) as { data: object[] }
  t.match(data, [{ id, url }])
})

t.test('`webhooks secret` prints and rotates the secret', async (t) => {
  const acme = await admin.organization('secret', { scopes: ['platform', 'admin'] })
  const command = runner(acme.key)
  const first = await outputOf(t, command('secret'))
  t.match(first, /^whsec_[A-Za-z0-9+/]{43}=$/)
  t.equal(await outputOf(t, command('secret')), first)
  const [second, overlap] = (await outputOf(t, command('secret', '--rotate'))).split('\n')
  t.match(second, /^whsec_/)
  t.not(second, first)
  t.match(overlap, /^the secret before it signs too until \d{4}-/)
  t.match(await outputOf(t, command('secret', '--rotate', '--overlap', '0')), /^whsec_\S+$/)
  refused(t, await command('secret', '--overlap', '5'), /--overlap needs --rotate/)
  refused(
    t,
    await command('secret', '--rotate', '--overlap', '604801'),
    /--overlap takes a whole number from 0 to 604800, not 604801/,
  )
  const platform = await admin.key(acme.id, { scopes: ['platform'] })
  refused(t, await runner(platform.key)('secret'), /FORBIDDEN/)
})
