/**
 * The commands in the guides are copied and run against a server with the simulated carrier. Every command block is run
 * here, or is listed with the test that covers it.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { runAlone, runCommand, startCommand } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { openWordEngines } from '../phone/engines.ts'
import { call } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { TestCluster } from '../store/cluster.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const run = promisify(execFile)

/** Command blocks that are not run here, by their first line, each with the reason. */
const notRun: Record<string, string> = {
  'PARLEY_CLIENTS=family parley up': 'test/clients/python-family.test.ts starts such a server',
  'parley listen --forward-to http://localhost:3000/hook': 'test/cli/listen.test.ts has a receiver',
  'parley listen --forward-to http://localhost:3000/hook --chaos dup,reorder,late-recording,500':
    'test/cli/listen-chaos.test.ts has a receiver',
  'parley mock                      # http://127.0.0.1:4010, for this machine alone': 'test/mock/command.test.ts does',
  'export PARLEY_API_KEY=sk_live_…': 'test/conform/command.test.ts runs the checks',
  "curl -s $PARLEY/v1/phone-numbers/sip-connections -H \"Authorization: Bearer $KEY\" -H 'Content-Type: application/json' -d '{":
    'test/platform/sip-connections.test.ts makes connections and imports numbers',
  "parley sip-connections add 'Head office' --host sip.example.com --username parley --password-stdin --allow 203.0.113.0/28 < password.txt":
    'test/cli/sip-connections.test.ts adds connections',
}
const guides = [
  'backup',
  'conform',
  'keys',
  'mock',
  'moving',
  'observability',
  'simulator',
  'transfers',
  'trunks',
  'users',
  'webhooks',
]
const taken = new Set<string>()

/** Returns the command blocks in a guide. A block in a list is indented with its list item. */
function blocksOf(guide: string): string[] {
  const text = readFileSync(packageFile(`docs/${guide}.md`), 'utf8')
  const blocks = text.matchAll(/^( *)```(?:sh|console)\n([^]*?)^\1```$/gm)
  return [...blocks].map(([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''))
}

/** Returns the guide's only block with this text, and notes that it is run. */
function blockWith(guide: string, text: string): string {
  const [block = '', ...others] = blocksOf(guide).filter((each) => each.includes(text))
  if (block === '' || others.length > 0) throw new Error(`docs/${guide}.md has ${text} in ${others.length} more blocks`)
  taken.add(block)
  return block
}

// The commands run in separate processes, so no test clock reaches them and calls run in real time.
const parley = await ownServer(t, { PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' }, { engines: openWordEngines })
const files = freshDataDir()
mkdirSync(files, { recursive: true })
t.teardown(() => rmSync(files, { recursive: true, force: true }))
const env = { PARLEY_API_KEY: parley.key }

/** Runs the block in a shell and returns the output. */
async function inShell(block: string, more: Record<string, string> = {}): Promise<string> {
  const variables = { ...process.env, PARLEY: parley.url, KEY: parley.key, ...more }
  const { stdout } = await run('bash', ['-euc', block], { env: variables, timeout: 60_000 })
  return stdout
}

/** Returns the arguments of each `parley` command in the block. The other lines of a console block are output. */
function commandsIn(block: string): string[][] {
  const lines = [...block.matchAll(/^(?:\$ )?(?:[A-Z_]+=\S+ )?parley ([^#\n]+)/gm)]
  return lines.map(([, line = '']) => line.trim().split(/ +/))
}

async function outputOf(t: Test, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(parley, args, env)
  t.equal(code, 0, `parley ${args.join(' ')}: ${stderr}`)
  return stdout
}

t.test('the commands of docs/simulator.md place a call and move the clock', async (t) => {
  t.match(await inShell(blockWith('simulator', '/simulator/calls')), /^\{"carrierLegId":"/)
  t.match(await inShell(blockWith('simulator', '/simulator/clock')), /^\{"time":"\d{4}-/)
})

t.test('the commands of docs/users.md make users and a token', async (t) => {
  await outputOf(t, ['org', 'create', 'acme'])
  const printed = []
  for (const args of commandsIn(blockWith('users', 'users create'))) printed.push(await outputOf(t, args))
  t.match(printed, [/^usr_.* owner/, /^usr_.* viewer/, /ann@example\.com[^]*sam@example\.com/, /^ut_/])
})

t.test('the commands of docs/sign-in.md make links and end the sessions of a person', async (t) => {
  const links = []
  for (const args of commandsIn(blockWith('sign-in', 'users reset'))) links.push(await outputOf(t, args))
  t.match(links, [/\/console\/reset#/, /\/console\/invite#/])
  const printed = []
  for (const args of commandsIn(blockWith('sign-in', 'users sign-out'))) printed.push(await outputOf(t, args))
  t.match(printed, [/^1 sessions and tokens of ann@example\.com have ended/])
})

t.test('the commands of docs/keys.md reseal stored secrets with the new master key and check them all', async (t) => {
  const [reseal = [], doctor = []] = commandsIn(blockWith('keys', 'keys reseal'))
  t.match(await outputOf(t, reseal), /^\d+ moved to the current master key/)
  t.match((await runCommand(parley, doctor, env)).stdout, /master key: /)
})

t.test('the commands of docs/backup.md write a backup and restore it into an empty database', async (t) => {
  const inFiles = (args: string[]) => args.map((arg) => arg.replace('/var/backups', files))
  const [backup = []] = commandsIn(blockWith('backup', 'parley backup')).map(inFiles)
  await outputOf(t, backup)
  t.ok(statSync(backup[1] ?? '').size > 1000)
  const cluster = await TestCluster.start()
  t.teardown(() => cluster.stop())
  const [restore = []] = commandsIn(blockWith('backup', 'parley restore')).map(inFiles)
  const empty = { PARLEY_DATA_DIR: path.join(files, 'restored'), DATABASE_URL: await cluster.database() }
  const { code, stderr } = await runAlone(restore, empty)
  t.equal(code, 0, stderr)
  t.match((await runAlone(['org', 'list'], empty)).stdout, /local/)
})

t.test('the commands of docs/webhooks.md register an endpoint, follow deliveries and send them again', async (t) => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const register = blockWith('webhooks', 'crm.example').replace('https://crm.example/parley', receiver.url)
  const endpoint = JSON.parse(await inShell(register)) as { id: string; name: string }
  t.equal(endpoint.name, 'crm')
  const [list = [], tail = [], resend = []] = commandsIn(blockWith('webhooks', 'webhooks list'))
  t.match(await outputOf(t, list), /crm/)
  const following = startCommand(parley, tail, env)
  t.teardown(() => following.stop())
  await outputOf(t, ['trigger', 'call.report', '--endpoint', 'crm'])
  await until('the delivery is shown', () => /call\.report/.test(following.output()), 30_000)
  const { data } = (await call(parley, 'GET', '/v1/webhook-deliveries')).json<{ data: Row[] }>()
  const id = data[0]?.id ?? ''
  const withId = resend.map((arg) => (arg === 'ID' ? id : arg))
  await outputOf(t, withId)
  t.equal(receiver.received.length, 2)
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString()
  const outage = blockWith('webhooks', '/recover').replaceAll('2026-11-21T14:00:00Z', hourAgo)
  const [curl = '', command = ''] = outage.split(/^(?=parley )/m)
  t.same(JSON.parse(await inShell(curl, { ENDPOINT: endpoint.id })), { deliveries: 0 })
  for (const args of commandsIn(command)) t.equal(await outputOf(t, args), '0 deliveries are sent again\n')
})

t.test('the commands of docs/transfers.md transfer calls, and give an agent the tool transfer_call', async (t) => {
  const blind = JSON.parse(await inShell(blockWith('transfers', '/transfers/blind'), { CALL: await liveCall() })) as Row
  t.match(blind, { kind: 'blind', status: 'requested' })

  const warm = blockWith('transfers', '/transfers/warm')
  const [complete = '', cancel = ''] = blockWith('transfers', '/complete').split(/^(?=curl \S+ \S+\/cancel)/m)
  const accepting = await screening(warm)
  t.match(JSON.parse(await inShell(complete, accepting)), { id: accepting.TRANSFER, status: /bridging|completed/ })
  // +15005550019 says nothing, so the person has neither accepted nor declined when the attempt is cancelled.
  const silent = await screening(warm.replaceAll('+15005550017', '+15005550019'))
  t.match(JSON.parse(await inShell(cancel, silent)), { id: silent.TRANSFER, status: 'cancelled' })

  const agent = { name: 'desk', systemPrompt: 'Be kind.', intent: { language: 'en' } }
  const AGENT = (await call(parley, 'POST', '/v1/agents', agent)).json<Row>().id
  t.match(await inShell(blockWith('transfers', '/tools'), { AGENT }), /"name":"transfer_call"/)
})

t.test('every block of commands in these guides is run, or is listed with the reason why not', (t) => {
  const isNamed = (block: string) => Object.hasOwn(notRun, block.trim().split('\n')[0] ?? '')
  for (const guide of guides)
    for (const block of blocksOf(guide)) t.ok(taken.has(block) || isNamed(block), `docs/${guide}.md: ${block}`)
  const all = guides.flatMap(blocksOf)
  for (const first of Object.keys(notRun))
    t.ok(
      all.some((block) => block.startsWith(`${first}\n`)),
      first,
    )
  t.end()
})

type Row = { id: string; kind: string; status: string }

/** Places a call to a person who stays, and returns its id when it is connected. */
async function liveCall(): Promise<string> {
  const wanted = { to: '+15005550006', intent: { language: 'en' }, systemPrompt: 'Answer: we open at nine.' }
  const placed = await call(parley, 'POST', '/v1/sessions/phone', wanted)
  const { sessionId } = placed.json<{ sessionId: string }>()
  const status = async () => (await call(parley, 'GET', `/v1/calls/${sessionId}`)).json<Row>().status
  await until('the call is connected', async () => (await status()) === 'in_progress', 30_000)
  return sessionId
}

/**
 * Runs the warm transfer on a live call. Returns the ids of the call and of the transfer once the recipient is asked to
 * accept the call.
 */
async function screening(block: string): Promise<{ CALL: string; TRANSFER: string }> {
  const CALL = await liveCall()
  const TRANSFER = (JSON.parse(await inShell(block, { CALL })) as Row).id
  const status = async () => {
    const { transfers } = (await call(parley, 'GET', `/v1/calls/${CALL}`)).json<{ transfers: Row[] }>()
    return transfers.find(({ id }) => id === TRANSFER)?.status
  }
  await until('the recipient is asked', async () => (await status()) !== 'requested', 30_000)
  return { CALL, TRANSFER }
}
