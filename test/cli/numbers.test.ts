/** The commands for phone numbers. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { runCommand } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { call } from '../platform/setup.ts'
import { startAdministered } from './administered.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t)
const files = freshDataDir()
mkdirSync(files, { recursive: true })
t.teardown(() => rmSync(files, { recursive: true, force: true }))

t.test('the `numbers` commands search, buy, list, change and release a phone number', async (t) => {
  const { id: organizationId } = await admin.organization('with numbers')
  const acme = await admin.key(organizationId, { test: true })
  const env = { PARLEY_API_KEY: acme.key, PARLEY_URL: parley.url }
  const command = (...args: string[]) => runCommand(parley, ['numbers', ...args], env)
  const outputOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await command(...args)
    t.equal(code, 0, stderr)
    return stdout.trimEnd()
  }
  t.match(await outputOf('list'), /^no numbers; `parley numbers search` finds one to buy/)
  t.match(
    await outputOf('search', '--area', '999'),
    /^no numbers are for sale there; search with another --area or --locality, or with none$/,
  )
  const found = await outputOf('search', '--area', '212', '--locality', 'New York', '--limit', '1')
  t.match(found, /\+12125550100 +\$1\.00 +\$1\.00 +New York, IL +voice sms.*\n`parley numbers buy NUMBER/)
  const wanted = { name: 'Desk', systemPrompt: 'Be brief.', intent: { language: 'en' } }
  const agent = (await call(acme, 'POST', '/v1/agents', wanted)).json<{ id: string }>().id
  const bought = await outputOf('buy', '+12125550100', '--agent', agent, '--label', 'Front')
  t.match(bought, new RegExp(`pn_\\w{22} +\\+12125550100 +both +ready +${agent} +– +Front`))
  t.match(JSON.parse(await outputOf('list', '--json')), {
    data: [{ e164: '+12125550100', agentId: agent, direction: 'both' }],
  })
  const set = await outputOf('set', '+12125550100', '--direction', 'outbound', '--agent', 'none', '--label', 'none')
  t.match(set, /\+12125550100 +outbound +ready +– +– +–\nIt takes no calls\. `parley numbers set NUMBER --agent/)
  refused(t, await command('set', '+12125550100'), /name an option to change/)
  refused(t, await command('set', '+12125550100', '--direction', 'up'), /--direction takes inbound, outbound, both/)
  refused(t, await command('set', '+12125550100', '--direction', 'both'), /VALIDATION_ERROR/)
  const template = path.join(files, 'template.json')
  writeFileSync(template, JSON.stringify({ intent: { language: 'de' }, systemPrompt: 'Sei kurz.' }))
  const answered = await outputOf('set', '+12125550100', '--direction', 'both', '--template', template)
  t.match(answered, /\+12125550100 +both +ready +template/)
  const shown = await outputOf('show', '+12125550100')
  t.match(shown, /^\+12125550100 {2}ready\n/)
  t.match(shown, /^ {2}takes calls +yes$/m)
  t.match(shown, /^template\n {2}\{\n/m)
  t.match(shown, /"systemPrompt": "Sei kurz\."/)
  t.match(JSON.parse(await outputOf('show', '+12125550100', '--json')), { dispatchMetadataTemplate: { intent: {} } })
  writeFileSync(template, '[]')
  refused(t, await command('set', '+12125550100', '--template', template), /template\.json holds no JSON object/)
  refused(t, await command('set', '+12125550100', '--template', 'missing.json'), /cannot be read \(ENOENT\)/)
  await outputOf('set', '+12125550100', '--direction', 'outbound', '--template', 'none')
  t.match(await outputOf('show', '+12125550100'), /^template: none$/m)
  refused(t, await command('show', '+12125550101'), /has no number \+12125550101; `parley numbers list` shows/)
  refused(t, await command('buy', '+12125550199'), /PHONE_NUMBER_UNAVAILABLE/)
  t.match(await outputOf('buy', '+12125550198'), /carrier_pending.*\nThe carrier has not decided on the order yet\./)
  t.equal(await outputOf('release', '+12125550100'), '+12125550100 is given back')
  refused(t, await command('release', '+12125550100'), /has no number \+12125550100/)
  refused(t, await command('release', 'pn_0123456789012345678901'), /NOT_FOUND/)
})
