/** The command line of the built product beside a running Parley. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { recognised } from '../audio/build.ts'
import { runLine, runParley } from '../process/command.ts'
import { descendants, freePort, isRunning, until } from '../process/machine.ts'
import { entry, freshDataDir, startParley } from '../process/parley.ts'
import { send } from '../router/requests.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { outputOf as outputOfRun } from './output.ts'
import { refused } from './refused.ts'

/** A first run with no settings but the place of its data. */
const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_EDGE_QUOTA: '' })
t.teardown(() => parley.remove())
const files = freshDataDir()
const elsewhere = freshDataDir()
t.teardown(() => {
  for (const folder of [files, elsewhere]) rmSync(folder, { recursive: true, force: true })
})

const command = (...args: string[]) => runParley(args, { dataDir: parley.dataDir })
const alone = (args: string[], env: Record<string, string> = {}) => runParley(args, { dataDir: elsewhere, env })

const outputOf = (t: Test, ...args: string[]) => outputOfRun(t, command(...args))

const key = /key {3}(sk_live_\S+)/.exec(parley.output())?.[1] ?? ''
const works = async (secret: string) => (await send({ url: parley.url, key: secret }, '/router/v1/models')).status

t.test('up prints the address, a key, and a curl that works', async (t) => {
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

t.test('the key of a first run is kept, readable by its owner alone', (t) => {
  const file = path.join(parley.dataDir, 'local.key')
  t.equal(readFileSync(file, 'utf8'), `${key}\n`)
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.end()
})

t.test('speak, transcribe and respond', async (t) => {
  const prompt = path.join(files, 'prompt.wav')
  writeFileSync(prompt, readFixture('privacy-prompt'))
  t.equal(wordErrors(spoken['privacy-prompt'], await outputOf(t, 'transcribe', prompt)).errors, 0)
  const answer = JSON.parse(await outputOf(t, 'transcribe', prompt, '--json', '--language', 'en')) as { route: object }
  t.match(answer.route, { provider: 'local', model: 'moonshine-tiny-en' })
  const out = path.join(files, 'out.wav')
  const text = 'Please leave your message after the tone.'
  t.match(await outputOf(t, 'speak', text, '-o', out, '--voice', 'slt', '--speed', '1.1'), /^\S+out\.wav: \d\.\d s$/)
  const { format } = recognised([readFileSync(out)], null)
  t.match(format, { container: 'wav', encoding: 'pcm_s16le', sampleRateHz: 24_000, channels: 1 })
  t.equal(wordErrors(text, await outputOf(t, 'transcribe', out)).errors, 0)
  t.match(await outputOf(t, 'respond', 'What can you do?'), /\w+ \w+/)
  refused(
    t,
    await command('transcribe', prompt, '--model', 'nobody/nothing'),
    /invalid_parameter at \/routing\/model: .*\n.+\nrequest req_/,
  )
  refused(t, await command('speak', 'Hello', '-o', out, '--speed', '9'), /invalid_parameter at \/speed/)
  refused(t, await command('transcribe', path.join(files, 'nothing.wav')), /nothing\.wav/)
})

t.test('speak, transcribe and respond are pipes', async (t) => {
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

t.test('--json prints what programs read', async (t) => {
  const json = async (...args: string[]) => JSON.parse(await outputOf(t, ...args, '--json')) as never
  t.match(await json('respond', 'What can you do?'), { output: [{ type: 'message' }], usage: {} })
  const out = path.join(files, 'json.wav')
  t.match(await json('speak', 'Hello.', '-o', out), { file: out, sample_rate_hz: 24_000, duration_ms: Number })
  t.match(await json('org', 'list'), [{ id: /^org_/, name: 'local', sms_enabled: true }])
  t.match(await json('doctor'), [{ name: 'Node', ok: true }])
  const checked = (await json('config', 'check')) as { settings: object; providers: object[] }
  t.match(checked, { file: null, engine: String, settings: { port: 8080, masterKey: 'not set' } })
  t.match(
    checked.providers.find((each) => (each as { id: string }).id === 'openai'),
    { adapter: 'openai', baseUrl: 'https://api.openai.com/v1', missing: 'OPENAI_API_KEY' },
  )
  const { id } = ((await json('org', 'list')) as { id: string }[])[0] as { id: string }
  const made: { id: string; secret: string } = await json('keys', 'create', '--org', id)
  t.match(made, { id: /^key_/, secret: /^sk_live_/ })
  t.match(await json('keys', 'list', '--org', id), [{}, { id: made.id, revoked_at: null }])
  t.match(await json('keys', 'rotate', made.id, '--org', id), { id: made.id, secret: /^sk_live_/ })
  t.same(await json('keys', 'revoke', made.id, '--org', id), { id: made.id, revoked: true })
})

t.test('models lists the routable models', async (t) => {
  t.match(await outputOf(t, 'models'), /^stt +1 +local\/moonshine-tiny-en +en$/m)
  const { objective, path: asked } = JSON.parse(
    await outputOf(t, 'models', '--json', '--objective', 'cost', '--path', 'batch'),
  ) as {
    objective: string
    path: string
  }
  t.same([objective, asked], ['cost', 'batch'])
})

t.test('preview explains a choice', async (t) => {
  const text = await outputOf(t, 'preview', '--stage', 'stt', '--language', 'en', '--objective', 'latency')
  t.match(text, /^stt for en, by latency: local:moonshine-tiny-en$/m)
  t.match(text, /^ {2}local:moonshine-tiny-en +cost +audio_hour +\$0\.000 +batch +embedded, \d{4}-\d{2}-\d{2}$/m)
  t.match(text, /^ {2}deepgram:nova-3 +unavailable \(no_credential\)$/m)
  const asked = ['preview', '--stage', 'stt', '--language', 'de', '--path', 'stream', '--json']
  const answer = JSON.parse(await outputOf(t, ...asked)) as { candidate: string | null; excluded: { reason: string }[] }
  t.match(answer, { candidate: null, language: 'de', objective: 'balanced' })
  t.ok(answer.excluded.some(({ reason }) => reason === 'language'))
  refused(t, await command('preview', '--stage', 'song'), /Allowed choices are stt, tts, llm/)
  const page = await fetch(`${parley.url}/docs/ranking`)
  t.same([page.status, page.headers.get('content-type')], [200, 'text/html'])
})

t.test('models update takes a newer catalog, and no older one', async (t) => {
  const newer = path.join(files, 'catalog.json')
  const lab = { title: 'A lab', url: 'https://lab.example', date: '2099-01', licence: 'CC0-1.0' }
  writeFileSync(newer, JSON.stringify({ as_of: '2099-01-01', sources: { lab }, models: [] }))
  const update = () => alone(['models', 'update', newer])
  t.match((await update()).stdout, /^catalog of 2099-01-01 over that of \d{4}-\d{2}-\d{2}: \d+ models, \d+ figures/)
  t.ok(readdirSync(elsewhere).includes('catalog.json'))
  writeFileSync(newer, JSON.stringify({ as_of: '2098-01-01', sources: { lab }, models: [] }))
  refused(t, await update(), /^parley: .*catalog\.json: is of 2098-01-01, and what is in force is newer \(2099-01-01\)/)
  rmSync(path.join(elsewhere, 'catalog.json'))
})

t.test('a missing recording is named', async (t) => {
  refused(t, await command('transcribe', 'nofile.wav'), /nofile\.wav: there is no such file/)
  refused(t, await command('transcribe', files), /is a folder/)
})

t.test('doctor names each fault and ends nothing', async (t) => {
  const beside = await outputOf(t, 'doctor')
  for (const name of ['Node', 'configuration', 'engine', 'store', 'port', 'provider'])
    t.match(beside, new RegExp(`^ok {4}${name}: `, 'm'))
  t.match(beside, /^ok {4}provider: openai at https:\/\/api\.openai\.com\/v1, not served: OPENAI_API_KEY is not set$/m)
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

t.test('commands without a server, and with one elsewhere', async (t) => {
  mkdirSync(path.join(elsewhere, 'empty'), { recursive: true })
  const dataDir = path.join(elsewhere, 'empty')
  const env = { PARLEY_PORT: String(await freePort()) }
  refused(
    t,
    await runParley(['models'], { dataDir, env }),
    /^parley: no key: set PARLEY_API_KEY, or run this in the folder of a running Parley/,
  )
  const withKey = { ...env, PARLEY_API_KEY: key }
  refused(
    t,
    await runParley(['models'], { dataDir, env: withKey }),
    /^parley: no Parley answers there; start one with `make run`, or set PARLEY_URL/,
  )
  refused(t, await runParley(['drain'], { dataDir, env }), 'parley: no Parley is running on this data folder')
  const reached = await runParley(['models'], { dataDir, env: { PARLEY_API_KEY: key, PARLEY_URL: parley.url } })
  t.equal(reached.code, 0, 'PARLEY_URL and PARLEY_API_KEY reach one elsewhere')
})

t.test('drain ends the running server', async (t) => {
  const all = [parley.pid, ...descendants(parley.pid)]
  t.equal(await outputOf(t, 'drain'), `process ${parley.pid} has ended`)
  await until('all have ended', () => all.every((pid) => !isRunning(pid)))
  refused(t, await command('drain'), 'no Parley is running on this data folder')
  const port = String(await freePort())
  const again = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_PORT: port }, parley.dataDir)
  t.teardown(() => again.stop())
  t.match(again.output(), key, 'the next start shows the same key')
})
