/** The command `parley conform` against our server. */
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { startAdministered } from '../cli/administered.ts'
import { runCommand } from '../command.ts'
import { overEngines } from '../engine/engines.ts'
import { freshDataDir } from '../installation.ts'

const folder = freshDataDir()
mkdirSync(folder, { recursive: true })
const chosen = 'router,getAgent,createAgent,deleteAgent,createSpeech,createResponse,streamSession,synthesizeStream'

overEngines(t, async (t, engine) => {
  const { parley, admin } = await startAdministered(t)
  const acme = await admin.organization('that is checked', { scopes: ['router', 'platform', 'realtime'] })
  const lesser = await admin.key(acme.id, { scopes: [] })
  const conform = (...args: string[]) => runCommand(parley, ['conform', ...args], { PARLEY_API_KEY: acme.key })

  t.test('`conform` prints a line for each target, and writes XML for build servers', async (t) => {
    const junit = path.join(folder, `${engine}.xml`)
    const args = ['--only', chosen, '--key-of-lesser-scope', lesser.key, '--junit', junit]
    const { code, stdout } = await conform(parley.url, ...args)
    t.equal(code, 0, stdout)
    t.match(stdout, /^ok +router +\/router\/openapi\.json +7 passed, 0 failed/m)
    t.match(stdout, /^ok +getAgent +GET \/v1\/agents\/\{id\} +\d+ passed, 0 failed, \d+ not applicable \(/m)
    t.match(stdout, /^ok +synthesizeStream +\/v1\/synthesize\/stream +9 passed, 0 failed/m)
    t.match(readFileSync(junit, 'utf8'), /<testsuites name="parley conform" tests="\d+" failures="0"/)
  })

  t.test('`conform --record` writes requests and answers without the key, readable only by the user', async (t) => {
    const record = path.join(folder, engine)
    const { code } = await conform('--only', 'getAgent', '--record', record)
    t.equal(code, 0)
    const files = readdirSync(record).map((name) => path.join(record, name))
    t.ok(files.length > 10, `${files.length} files`)
    t.notOk(files.some((file) => readFileSync(file, 'utf8').includes(acme.key)))
    t.equal(statSync(files[0] ?? '').mode & 0o077, 0)
  })

  t.test('the exit code of `conform` is 2 if no server answers, or if --only names an unknown operation', async (t) => {
    const nowhere = await conform('http://127.0.0.1:9')
    t.equal(nowhere.code, 2)
    t.match(nowhere.stderr, /GET \/router\/openapi\.json has no answer/)
    const unknown = await conform('--only', 'getAgents')
    t.equal(unknown.code, 2)
    t.match(unknown.stderr, /there is no operation, channel or document getAgents/)
  })
})
