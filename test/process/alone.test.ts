/** Tests the built product's commands while no Parley runs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { refused } from '../cli/refused.ts'
import { freshDataDir } from '../installation.ts'
import { spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { runParley } from './command.ts'
import { entry } from './parley.ts'

t.setTimeout(300_000)
const files = freshDataDir()
const dataDir = freshDataDir()
t.teardown(() => {
  for (const folder of [files, dataDir]) rmSync(folder, { recursive: true, force: true })
})

const alone = (args: string[], env: Record<string, string> = {}) => runParley(args, { dataDir, env })

t.test('a start with an unusable setting is refused, and the error names the setting', async (t) => {
  refused(
    t,
    await alone(['up'], { PARLEY_PORT: '0', PARLEY_HOST: '0.0.0.0' }),
    /^parley: PARLEY_MASTER_KEY: is required when the host is not loopback/,
  )
  const provider = JSON.stringify([{ id: 'x', adapter: 'nothing' }])
  refused(
    t,
    await alone(['up'], { PARLEY_PORT: '0', PARLEY_PROVIDERS: provider, DATABASE_URL: 'postgres://127.0.0.1:1/x' }),
    /^parley: /,
  )
  for (const [name, address] of [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'collector'],
  ] as const) {
    refused(t, await alone(['up'], { PARLEY_PORT: '0', [name]: address }), `parley: ${name}: must be an http(s) URL`)
    refused(t, await alone(['config', 'check'], { [name]: address }), `parley: ${name}: must be an http(s) URL`)
  }
})

t.test('if the data folder cannot be created, the error names it', async (t) => {
  // For the first folder the operating system reports ENOENT, and for the second folder ENOTDIR.
  for (const dataDir of ['/proc/parley', path.join(process.execPath, 'parley')]) {
    const up = await runParley(['up'], { dataDir, env: { PARLEY_PORT: '0' }, timeoutMs: 10_000 })
    refused(t, up, `parley: The data folder ${dataDir} cannot be made`)
  }
})

t.test('the demo command transcribes, answers and speaks, and leaves no process or file', async (t) => {
  const temporary = path.join(files, 'tmp')
  mkdirSync(temporary)
  // These settings are for a server behind a proxy. The demo's instance must ignore them.
  const env = { TMPDIR: temporary, PARLEY_TRUSTED_PROXIES: '10.0.0.0/8', PARLEY_PUBLIC_URL: 'https://voice.example' }
  const { code, stdout } = await runParley(['demo'], { dataDir, env, timeoutMs: 90_000 })
  t.equal(code, 0)
  const transcript = /1\. Speech to text.*\n {3}(.+)\n/.exec(stdout)?.[1] ?? ''
  t.equal(wordErrors(spoken['privacy-prompt'], transcript).errors, 0, transcript)
  t.match(stdout, /2\. LLM answer, as it streams\n {3}\S+/)
  t.match(stdout, /3\. Text to speech\n {3}.+\n {3}→ \d\.\d s of speech in \d+ ms\n/)
  t.same(readdirSync(temporary), [])
})

t.test('an interrupted demo command leaves no process or file', async (t) => {
  const temporary = path.join(files, 'interrupted')
  mkdirSync(temporary)
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: temporary }
  const child = spawn(entry, ['demo'], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  t.ok(await Promise.race([once(child.stdout, 'data'), ended.then(() => null)]), complaint)
  child.kill('SIGINT')
  t.same(await ended, [1, null])
  t.same(readdirSync(temporary), [])
})
