/** Commands accept an organization by name, and explain a refused request. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { openDatabase } from '../process/database.ts'
import { ownServer } from '../server.ts'
import { outputOf } from './output.ts'
import { refused } from './refused.ts'

const parley = await ownServer(t)
const env = { PARLEY_API_KEY: parley.key, PARLEY_URL: parley.url }
const command = (...args: string[]) => runCommand(parley, args, env)

t.test('two organizations cannot get the same name', async (t) => {
  const id = /org_\w+/.exec(await outputOf(t, command('org', 'create', 'Twins')))?.[0] ?? ''
  const other = /org_\w+/.exec(await outputOf(t, command('org', 'create', 'Other')))?.[0] ?? ''
  const taken = /^parley: another organization has the name Twins; choose another name/
  refused(t, await command('org', 'create', 'Twins'), taken)
  refused(t, await command('org', 'rename', 'Other', 'Twins'), taken)
  refused(t, await command('org', 'set', 'Other', 'credit=3', 'name=Twins'), taken)
  t.match(await outputOf(t, command('org', 'show', 'Other')), 'credit $0.00', 'nothing was changed')
  t.match(await outputOf(t, command('org', 'rename', 'Twins', 'Twins')), id, 'its own name')
  for (const name of ['', ' ', 'org_x', 'x'.repeat(201)]) refused(t, await command('org', 'create', name), /name/)
  const sql = openDatabase(parley)
  t.teardown(() => sql.end())
  await sql`update organizations set name = 'Twins' where id = ${other}`
  const ids = `(${id}, ${other}|${other}, ${id})`
  for (const args of [
    ['org', 'show', 'Twins'],
    ['org', 'rename', 'Twins', 'Third'],
    ['keys', 'list', '--org', 'Twins'],
    ['usage', '--org', 'Twins'],
  ])
    refused(
      t,
      await command(...args),
      new RegExp(`^parley: 2 organizations have the name Twins; give the id of one: ${ids}$`, 'm'),
    )
  t.match(await outputOf(t, command('org', 'rename', other, 'Third')), `${other}  Third`)
  t.match(await outputOf(t, command('org', 'show', 'Twins')), id)
})

t.test('if the server refuses a request, a command prints the reason once', async (t) => {
  const { stderr } = await command('usage', '--from', '2020-01-01')
  t.match(stderr, /^parley: VALIDATION_ERROR: from must be .*92 days/)
  t.equal(stderr.match(/92 days/g)?.length, 1, stderr)
  const cursor = await command('credits', '--cursor', 'nothing')
  t.equal(cursor.stderr.match(/cursor/g)?.length, 1, cursor.stderr)
})
