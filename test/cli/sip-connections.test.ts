/** The commands for SIP connections and imported numbers. */
import t, { type Test } from 'tap'
import { runCommand } from '../command.ts'
import { defaults } from '../store/cluster.ts'
import { startAdministered } from './administered.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t, { PARLEY_MASTER_KEY: defaults.masterKeys().current })

async function commands(test: Test, name: string) {
  const acme = await admin.organization(name)
  const env = { PARLEY_API_KEY: acme.key }
  const command = (...args: string[]) => runCommand(parley, args, env)
  const outputOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await command(...args)
    test.equal(code, 0, stderr)
    return stdout.trimEnd()
  }
  /** Runs a command with passwords on standard input, because passwords must not be in a command's arguments. */
  const withPasswords = async (lines: string, words: string) => {
    const { code, stdout, stderr } = await runCommand(parley, ['sip-connections', ...words.split(' ')], env, lines)
    test.equal(code, 0, stderr)
    return stdout.trimEnd()
  }
  return { command, outputOf, withPasswords }
}

t.test('the `sip-connections` commands add, list, change and remove a SIP connection', async (t) => {
  const { command, outputOf, withPasswords } = await commands(t, 'with trunks')
  const sip = (...args: string[]) => outputOf('sip-connections', ...args)
  t.equal(await sip('list'), 'no connections')
  const added = await withPasswords(
    'open sesame\nknock knock knock\n',
    'add Office --host sip.example.com --port 5070 --transport tcp --username desk --password-stdin --provider Example ' +
      '--allow 203.0.113.0/28 198.51.100.0/28 --inbound-username front --inbound-password-stdin',
  )
  t.match(
    added,
    /sip_\w{22} +Office +unverified +tcp:sip\.example\.com:5070 +203\.0\.113\.0\/28 198\.51\.100\.0\/28 login front +– +0/,
  )
  t.match(added, /No call comes in over them: this server has no port for SIP[^]*PARLEY_SIP_PORT/)
  t.notMatch(added, /sesame|knock/)
  const find = async () =>
    (JSON.parse(await sip('list', '--json')) as { data: { id: string; outbound: object }[] }).data[0]
  const made = await find()
  t.match(made, {
    provider: 'Example',
    outbound: { username: 'desk', hasPassword: true },
    inbound: { hasPassword: true },
  })
  const stored = await admin.store.sipConnections.find(made?.id ?? '')
  t.match(stored, { outbound: { password: 'open sesame' }, inbound: { password: 'knock knock knock' } })
  t.match(await sip('set', 'Office', '--port', '5080'), /tcp:sip\.example\.com:5080/)
  await sip('set', 'Office', '--user-phone', 'yes', '--identity', 'asserted', '--register', 'yes')
  t.match(await find(), { outbound: { port: 5080, userPhone: true, identity: 'asserted', register: true } })
  refused(t, await command('sip-connections', 'set', 'Office', '--register', 'always'), /--register takes yes or no/)
  await sip('set', 'Office', '--register', 'no')
  t.match(await find(), { outbound: { userPhone: true, register: false } })
  t.match((await admin.store.sipConnections.find(made?.id ?? ''))?.outbound, { port: 5080, password: 'open sesame' })
  const set = await withPasswords('again\n', `set ${made?.id} --name Branch --host sip.example.org --password-stdin`)
  t.match(set, /Branch +unverified +tcp:sip\.example\.org:5080/)
  t.match(await sip('set', 'Branch', '--username', 'none', '--no-inbound'), /:5080 +– +–/)
  t.match(await find(), { outbound: { hasPassword: false, username: null }, inbound: null })
  refused(t, await command('sip-connections', 'check', 'Branch'), /VALIDATION_ERROR[^]*no port for SIP/)
  t.equal(await sip('remove', 'Branch'), 'Branch is removed')
  t.equal(await sip('list'), 'no connections')
  refused(t, await command('sip-connections', 'remove', 'Branch'), /has no SIP connection Branch/)
})

t.test('`sip-connections check` says what the trunk answers', async (t) => {
  const acme = await admin.organization('with a checked trunk')
  const { key } = await admin.key(acme.id, { test: true })
  const command = (...args: string[]) => runCommand(parley, ['sip-connections', ...args], { PARLEY_API_KEY: key })
  t.equal((await command('add', 'Office', '--host', 'sip.example.com')).code, 0)
  t.match(await command('check', 'Office'), { code: 0, stdout: 'Office answers with 200 OK after 0 ms\n' })
})

t.test('the command `sip-connections` refuses wrong options and names each option', async (t) => {
  const { command, outputOf } = await commands(t, 'refused')
  const sip = (...args: string[]) => command('sip-connections', ...args)
  refused(t, await sip('add', 'Office'), /VALIDATION_ERROR[^]*\/inbound is required/)
  refused(t, await sip('add', 'Office', '--port', '5070'), /name --host/)
  refused(
    t,
    await sip('add', 'Office', '--host', 'sip.example.com', '--port', 'x'),
    /--port takes a whole number from 1 to 65535, not x/,
  )
  const login = ['--host', 'sip.example.com', '--username', 'desk']
  refused(t, await sip('add', 'Office', ...login), /\/outbound\/password is required/)
  refused(t, await sip('add', 'Office', ...login, '--password-stdin'), /standard input has no line/)
  await outputOf('sip-connections', 'add', 'Office', '--allow', '203.0.113.0/28')
  refused(t, await sip('set', 'Office'), /name an option/)
  refused(t, await sip('set', 'Office', '--allow', 'none'), /\/inbound\/allowedAddresses/)
  refused(t, await sip('set', 'Office', '--no-inbound'), /\/inbound is required/)
})

t.test("`numbers import` accepts a SIP connection's name, and `numbers set` changes the connection", async (t) => {
  const { command, outputOf } = await commands(t, 'with imported numbers')
  for (const name of ['Office', 'Branch']) await outputOf('sip-connections', 'add', name, '--allow', '203.0.113.0/28')
  const e164 = '+493012345678'
  const settings = ['--connection', 'Office', '--sip-provider', 'Example', '--label', 'Berlin']
  t.match(await outputOf('numbers', 'import', e164, ...settings), /pn_\w{22} +\+493012345678 +outbound +\S.* Berlin/)
  const shown = await outputOf('numbers', 'show', e164)
  t.match(shown, /action_required, sip_port_missing[^]*This server has no port for SIP[^]*PARLEY_SIP_PORT/)
  const find = async () =>
    (JSON.parse(await outputOf('numbers', 'list', '--json')) as { data: Record<string, unknown>[] }).data[0]
  const office = await find()
  t.match(office, { source: 'sip_trunk', sipProviderName: 'Example', label: 'Berlin' })
  await outputOf('numbers', 'set', e164, '--connection', 'Branch', '--sip-provider', 'none')
  const branch = await find()
  t.match(branch, { sipProviderName: null, label: 'Berlin' })
  t.not(branch?.['sipConnectionInstallationId'], office?.['sipConnectionInstallationId'])
  refused(t, await command('sip-connections', 'remove', 'Branch'), /SIP_CONNECTION_IN_USE/)
  refused(t, await command('numbers', 'import', e164), /name --connection.*`parley sip-connections list`/)
  refused(
    t,
    await command('numbers', 'import', e164, '--connection', 'Nowhere'),
    /has no SIP connection Nowhere; `parley sip-connections list` shows/,
  )
  refused(t, await command('numbers', 'import', e164, '--connection', 'Branch'), /PHONE_NUMBER_EXISTS/)
  t.equal(await outputOf('numbers', 'release', e164), `${e164} is given back`)
})
