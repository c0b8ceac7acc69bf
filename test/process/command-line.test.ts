/** Tests the built product's commands beside a running Parley. */
import { readFileSync, rmSync, statSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { outputOf as outputOfRun } from '../cli/output.ts'
import { refused } from '../cli/refused.ts'
import { freshDataDir } from '../installation.ts'
import { send } from '../router/requests.ts'
import { wordErrors } from '../speech/words.ts'
import { runLine, runParley } from './command.ts'
import { descendants, freePort, isRunning, until } from './machine.ts'
import { entry, startParley } from './parley.ts'

/** A first run whose only setting is its data folder. */
const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_EDGE_QUOTA: '' })
t.teardown(() => parley.remove())
const elsewhere = freshDataDir()
t.teardown(() => rmSync(elsewhere, { recursive: true, force: true }))

const command = (...args: string[]) => runParley(args, { dataDir: parley.dataDir })
const alone = (args: string[], env: Record<string, string> = {}) => runParley(args, { dataDir: elsewhere, env })

const outputOf = (t: Test, ...args: string[]) => outputOfRun(t, command(...args))

const key = /key {3}(sk_live_\S+)/.exec(parley.output())?.[1] ?? ''
const works = async (secret: string) => (await send({ url: parley.url, key: secret }, '/router/v1/models')).status

t.test("the command `up` prints the server's URL, an API key, and a curl command that works", async (t) => {
  t.match(parley.output(), /^Parley \d+\.\d+\.\d+ is ready at http:\/\/127\.0\.0\.1:\d+$/m)
  t.match(key, /^sk_live_\w{24,}$/)
  t.match(parley.output(), `  web   ${parley.url}/try: `)
  t.match(parley.output(), `  api   ${parley.url}/v1 is the base URL`)
  t.match(parley.output(), /^ {2}add {3}OPENAI_API_KEY=/m)
  const line = /try {3}(curl .+)/.exec(parley.output())?.[1] ?? ''
  const { code, stdout } = await runLine(line, { dataDir: parley.dataDir })
  t.equal(code, 0)
  const { models } = JSON.parse(stdout) as { models: { kind: string }[] }
  t.same(new Set(models.map(({ kind }) => kind)), new Set(['stt', 'tts', 'llm']))
})

t.test('the API key of a first run is stored in a file that only its owner can read', (t) => {
  const file = path.join(parley.dataDir, 'local.key')
  t.equal(readFileSync(file, 'utf8'), `${key}\n`)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.end()
})

t.test('the commands `speak`, `transcribe` and `respond` work in pipes', async (t) => {
  const text = 'Please leave your message after the tone.'
  const line = (command: string) => runLine(command, { dataDir: parley.dataDir })
  const piped = await line(`echo '${text}' | ${entry} speak - -o - | ${entry} transcribe -`)
  t.equal(piped.code, 0, piped.stderr)
  t.equal(wordErrors(text, piped.stdout).errors, 0)
  const answer = await line(`echo 'What can you do?' | ${entry} respond -`)
  t.match(answer.stdout, /\w+ \w+/)
  const cut = await line(`${entry} models --json | head -c 1`)
  t.same([cut.stdout, cut.stderr], ['{', ''], 'a reader that goes is no error')
  refused(t, await line(`printf '' | ${entry} respond -`), 'parley: there is no text')
})

t.test('the command `doctor` names each fault, and does not stop the server', async (t) => {
  const beside = await outputOf(t, 'doctor')
  t.match(JSON.parse(await outputOf(t, 'doctor', '--json')), { data: [{ name: 'Node', ok: true }] })
  for (const name of ['Node', 'configuration', 'engine', 'store', 'port', 'provider'])
    t.match(beside, new RegExp(`^ok {4}${name}: `, 'm'))
  t.match(beside, /^ok {4}provider: \d+ without a key: .*\bopenai \(OPENAI_API_KEY\)/m)
  t.match(beside, `Parley runs already at ${parley.url}, process ${parley.pid}`)
  t.equal(await works(key), 200, 'the server still answers')
  const port = String(await freePort())
  const fresh = await alone(['doctor'], { PARLEY_PORT: port })
  t.equal(fresh.code, 0)
  t.match(fresh.stdout, `ok    port: 127.0.0.1:${port} is free`)
  const taken = await alone(['doctor'], {
    PARLEY_PORT: new URL(parley.url).port,
    DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/d',
  })
  t.equal(taken.code, 1)
  t.match(taken.stdout, /^FAIL {2}port: .* is taken.*\n {6}End what listens there, or set PARLEY_PORT\.$/m)
  t.match(taken.stdout, /^FAIL {2}store: the Postgres that DATABASE_URL names: /m)
  t.notMatch(taken.stdout + taken.stderr, 'hidden')
  const wrong = await alone(['doctor'], { PARLEY_PORT: 'http' })
  t.equal(wrong.code, 1)
  t.match(wrong.stdout, /^FAIL {2}configuration: PARLEY_PORT: /m)
})

t.test('the command `drain` ends the running server', async (t) => {
  const all = [parley.pid, ...descendants(parley.pid)]
  t.equal(await outputOf(t, 'drain'), `process ${parley.pid} has ended`)
  await until('all have ended', () => all.every((pid) => !isRunning(pid)))
  refused(t, await command('drain'), 'no Parley is running on this data folder')
  const port = String(await freePort())
  const again = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_PORT: port }, parley.dataDir)
  t.teardown(() => again.stop())
  t.match(again.output(), key, 'the next start shows the same key')
})
