/** The operator's commands for text messages. */
import t from 'tap'
import { newEntry } from '../../simulator/registry-ids.ts'
import { runCommand } from '../command.ts'
import { call } from '../platform/setup.ts'
import { startAdministered } from './administered.ts'
import { refused } from './refused.ts'

const { parley, admin } = await startAdministered(t)
const command = (...args: string[]) => runCommand(parley, ['sms', 'shared-campaign', ...args])

t.test('`sms shared-campaign` sets, shows and clears the campaign that all organizations may use', async (t) => {
  const acme = await admin.organization('acme')
  await admin.store.organizations.change(acme.id, { smsEnabled: true })
  const shown = async () => (await call(acme, 'GET', '/v1/sms/10dlc')).json<{ sharedCampaign: object }>().sharedCampaign
  t.match((await command('show')).stdout, /there is no shared campaign/)
  t.match((await command('show', '--json')).stdout, /^null$/m)
  refused(
    t,
    await command('set', '--label', 'For all', '--campaign-id', 'nothing'),
    'the carrier does not know nothing',
  )
  for (const label of [' ', 'x'.repeat(101)])
    refused(t, await command('set', '--label', label, '--campaign-id', 'nothing'), '--label takes 1 to 100 characters')
  const longest = await command('set', '--label', 'x'.repeat(100), '--campaign-id', 'nothing')
  refused(t, longest, 'the carrier does not know nothing')
  t.match(await shown(), { available: false, label: null })

  const { id } = newEntry('campaign', ['provisioned'], 'provisioned', Date.now() - 100_000)
  const set = await command('set', '--label', 'For all', '--campaign-id', id, '--json')
  t.same(JSON.parse(set.stdout), { label: 'For all', campaignId: id, status: 'active' }, set.stderr)
  t.same(await shown(), { available: true, label: 'For all', campaignId: id, status: 'active' })
  t.match((await command('show')).stdout, `${id}  active  For all`)

  t.equal((await command('clear')).code, 0)
  t.match(await shown(), { available: false, label: null })
})
