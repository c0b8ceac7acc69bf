/** The operator's command that compares our rich-message numbers with the provider's list. */
import t from 'tap'

import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { startAdministered } from './administered.ts'
import { jsonOf } from './output.ts'
import { refused } from './refused.ts'

const { parley } = await startAdministered(t)
const sql = openDatabase(parley)
t.teardown(() => sql.end())

type Row = { id: string; status: string }
const command = (...args: string[]) => runCommand(parley, ['rmsg', ...args])

const done = (...args: string[]) => jsonOf<Row>(command(...args, '--json'))

t.test('`rmsg sync` asks the provider for the state of each rich-message number', async (t) => {
  const kept = await done('add', '+14155550180', '--identity', 'agent-180')
  const lost = await done('add', '+14155550181', '--identity', 'agent lost')
  const sync = () => jsonOf<{ changed: Row[]; unknown: number }>(command('sync', '--json'))
  t.match(await sync(), { changed: [{ id: lost.id, status: 'unavailable' }], unknown: 0 })
  t.same(await sync(), { changed: [], unknown: 0 }, 'a second time changes nothing')
  refused(t, await command('resume', lost.id), 'the provider has lost')
  await done('pause', kept.id)
  t.same(await sync(), { changed: [], unknown: 0 }, 'a pause is kept')
  const rename = (identity: string) =>
    sql`update rmsg_numbers set provider_identity = ${identity} where id = ${kept.id}`
  await rename('agent-180 lost')
  t.match(await sync(), { changed: [{ id: kept.id, status: 'unavailable' }] })
  await rename('agent-180')
  t.match(await sync(), { changed: [{ id: kept.id, status: 'paused' }] }, 'also after the provider had lost it')
  await sql`update rmsg_numbers set provider_identity = 'agent-181' where id = ${lost.id}`
  t.match(await sync(), { changed: [{ id: lost.id, status: 'active' }], unknown: 0 }, 'the number is back')
  t.match((await command('sync')).stdout, /^0 changed, 0 not known/m)
})
