/** Commands accept an agent or an endpoint by name or id, and list an organization's people. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { call } from '../platform/setup.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { startAdministered } from './administered.ts'
import { outputOf } from './output.ts'
import { refused } from './refused.ts'

const receiver = await startReceiver()
t.teardown(() => receiver.close())
const { parley, admin } = await startAdministered(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })

const runner = (key: string) => {
  const env = { PARLEY_API_KEY: key, PARLEY_URL: parley.url }
  return (...args: string[]) => runCommand(parley, args, env)
}

t.test('commands accept the name of an agent instead of its id', async (t) => {
  const acme = await admin.organization('agents')
  const command = runner(acme.key)
  const make = (name: string) =>
    outputOf(t, command('agents', 'create', '--name', name, '--prompt', 'Be brief.', '--language', 'en-US'))
  const [shop, desk] = [await make('Bicycle shop'), await make('desk')]
  const named = await outputOf(t, command('agents', 'show', 'Bicycle shop'))
  t.match(named, shop)
  t.equal(await outputOf(t, command('agents', 'show', shop)), named)
  t.same(JSON.parse(await outputOf(t, command('calls', 'list', '--agent', 'desk', '--json'))), {
    data: [],
    nextCursor: null,
  })
  t.match(await outputOf(t, command('agents', 'delete', 'desk')), 'desk is deleted')
  t.equal((await call(acme, 'GET', `/v1/agents/${desk}`)).status, 404)
  for (const args of [
    ['agents', 'show', 'desk'],
    ['calls', 'list', '--agent', 'desk'],
    ['dial', '+15005550006', '--agent', 'desk'],
    ['numbers', 'set', '+15005550100', '--agent', 'desk'],
  ])
    refused(t, await command(...args), 'there is no agent desk')
  refused(t, await command('agents', 'show', desk), /NOT_FOUND/)
})

t.test('commands accept the name of a webhook endpoint, and print JSON with --json', async (t) => {
  const acme = await admin.organization('endpoints')
  const command = runner(acme.key)
  const create = async (name: string) => {
    const made = await call(acme, 'POST', '/v1/webhooks', { name, url: receiver.url, events: ['call.status'] })
    return made.json<{ id: string }>().id
  }
  const id = await create('crm')
  t.match(await outputOf(t, command('trigger', 'call.status', '--endpoint', 'crm')), /^delivered, 204, delivery /)
  const sent = JSON.parse(await outputOf(t, command('trigger', 'call.status', '--endpoint', id, '--json'))) as object
  t.match(sent, { delivered: true, httpStatus: 204, deliveryId: String })
  const local = ['trigger', 'call.status', '--forward-to', receiver.url, '--json']
  t.match(JSON.parse(await outputOf(t, command(...local))), { received: true, answer: String, durationMs: Number })
  const other = await create('crm')
  refused(
    t,
    await command('trigger', 'call.status', '--endpoint', 'crm'),
    new RegExp(`${other}, ${id}|${id}, ${other}`),
  )
  refused(t, await command('webhooks', 'tail', '--endpoint', 'erp'), 'there is no endpoint erp')
})

t.test('`users list` prints each user', async (t) => {
  const acme = await admin.organization('people')
  const command = runner(acme.key)
  const list = (...more: string[]) => outputOf(t, command('users', 'list', '--org', ...more))
  t.equal(await list('people'), 'no users')
  await outputOf(t, command('users', 'create', 'ann@example.com', '--org', 'people', '--role', 'admin'))
  await outputOf(t, command('users', 'create', 'bob@example.com', '--org', acme.id))
  const lines = (await list('people')).split('\n').map((line) => line.split('  ').slice(1).join(' '))
  t.same(lines.sort(), [`ann@example.com ${acme.id} admin`, `bob@example.com ${acme.id} member`])
  const { data: rows } = JSON.parse(await list(acme.id, '--json')) as { data: { email: string; role: string }[] }
  t.same(rows.map(({ email, role }) => `${email} ${role}`).sort(), ['ann@example.com admin', 'bob@example.com member'])
  await outputOf(t, command('users', 'remove', 'ann@example.com', '--org', 'people'))
  t.equal((await list('people')).split('\n').length, 1)
  refused(t, await command('users', 'list', '--org', 'nobody'), /nobody/)
})
