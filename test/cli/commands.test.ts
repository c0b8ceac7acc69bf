/** Commands use a running server for speech, text and models, and print an error if there is no server. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { recognised } from '../audio/build.ts'
import { runAlone, runCommand } from '../command.ts'
import { freshDataDir } from '../installation.ts'
import { freePort } from '../process/machine.ts'
import { ownServer } from '../server.ts'
import { readFixture, spoken } from '../speech/fixtures.ts'
import { wordErrors } from '../speech/words.ts'
import { outputOf as outputOfRun } from './output.ts'
import { refused } from './refused.ts'

const parley = await ownServer(t)
const files = freshDataDir()
const elsewhere = freshDataDir()
for (const folder of [files, elsewhere]) mkdirSync(folder, { recursive: true })
t.teardown(() => {
  for (const folder of [files, elsewhere]) rmSync(folder, { recursive: true, force: true })
})

const command = (...args: string[]) => runCommand(parley, args, { PARLEY_API_KEY: parley.key })
const outputOf = (t: Test, ...args: string[]) => outputOfRun(t, command(...args))

t.test('the commands `speak`, `transcribe` and `respond` print their results', async (t) => {
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
  refused(t, await command('speak', 'Hello', '-o', out, '--speed', '9'), /--speed takes a number from 0.25 to 4, not 9/)
  refused(t, await command('transcribe', path.join(files, 'nothing.wav')), /nothing\.wav/)
})

t.test('with --json the commands print their results as JSON', async (t) => {
  const json = async (...args: string[]) => JSON.parse(await outputOf(t, ...args, '--json')) as never
  t.match(await json('respond', 'What can you do?'), { output: [{ type: 'message' }], usage: {} })
  const out = path.join(files, 'json.wav')
  t.match(await json('speak', 'Hello.', '-o', out), { file: out, sampleRateHz: 24_000, durationMs: Number })
  t.match(await json('org', 'list'), { data: [{ id: /^org_/, name: 'local', smsEnabled: true }] })
  const checked = (await json('config', 'check')) as { settings: object; providers: object[] }
  t.match(checked, { file: null, engine: String, settings: { port: 8080, masterKey: 'not set' } })
  t.match(
    checked.providers.find((each) => (each as { id: string }).id === 'openai'),
    { adapter: 'openai', baseUrl: 'https://api.openai.com/v1', missing: 'OPENAI_API_KEY' },
  )
  const { id } = ((await json('org', 'list')) as { data: { id: string }[] }).data[0] as { id: string }
  const made: { id: string; secret: string } = await json('keys', 'create', '--org', id)
  t.match(made, { id: /^key_/, secret: /^sk_live_/ })
  t.match(await json('keys', 'list', '--org', id), { data: [{}, { id: made.id, revokedAt: null }] })
  t.match(await json('keys', 'rotate', made.id, '--org', id), { id: made.id, secret: /^sk_live_/ })
  t.same(await json('keys', 'revoke', made.id, '--org', id), { id: made.id, revoked: true })
})

t.test("with --json the operator's `list` commands print { data, nextCursor } in the API's field names", async (t) => {
  const org = ['--org', 'local']
  await outputOf(t, 'users', 'create', 'ann@example.com', ...org)
  await outputOf(t, 'rmsg', 'add', '+14155550180', '--identity', 'shop')
  await outputOf(t, 'rmsg', 'assign', '+14155550180', ...org)
  const lists = [['org'], ['keys', ...org], ['users', ...org], ['rmsg'], ['kyb']]
  for (const [name = '', ...more] of lists) {
    const list = JSON.parse(await outputOf(t, name, 'list', ...more, '--json')) as { data: object[] }
    t.same(Object.keys(list).sort(), ['data', 'nextCursor'], name)
    t.ok(list.data.length > 0, `${name} has rows`)
    t.same(
      list.data.flatMap(Object.keys).filter((field) => field.includes('_')),
      [],
      name,
    )
  }
})

t.test('commands that are not about organizations take the organization as the option --org', async (t) => {
  const commands = [
    'users list',
    'users create ann@example.com',
    'users token ann@example.com',
    'rmsg assign 1',
    'kyb approve',
  ]
  for (const line of commands) {
    t.match(await command(...line.split(' ')), { code: 2, stderr: /required option '--org <organization>'/ }, line)
    t.match(
      await command(...line.split(' '), 'local', '--org', 'local'),
      { code: 2, stderr: /too many arguments/ },
      line,
    )
  }
})

t.test('the command `models` lists the routable models', async (t) => {
  t.match(await outputOf(t, 'models'), /^stt +1 +local\/moonshine-tiny-en +en$/m)
  const { objective, path: asked } = JSON.parse(
    await outputOf(t, 'models', '--json', '--objective', 'cost', '--path', 'batch'),
  ) as {
    objective: string
    path: string
  }
  t.same([objective, asked], ['cost', 'batch'])
})

t.test('the command `preview` explains the choice of a model', async (t) => {
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

t.test('`models update` accepts a newer catalog and refuses an older catalog', async (t) => {
  const newer = path.join(files, 'catalog.json')
  const lab = { title: 'A lab', url: 'https://lab.example', date: '2099-01', licence: 'CC0-1.0' }
  writeFileSync(newer, JSON.stringify({ as_of: '2099-01-01', sources: { lab }, models: [] }))
  const update = () => runAlone(['models', 'update', newer], { PARLEY_DATA_DIR: elsewhere })
  t.match((await update()).stdout, /^catalog of 2099-01-01 over that of \d{4}-\d{2}-\d{2}: \d+ models, \d+ figures/)
  t.ok(readdirSync(elsewhere).includes('catalog.json'))
  writeFileSync(newer, JSON.stringify({ as_of: '2098-01-01', sources: { lab }, models: [] }))
  refused(t, await update(), /^parley: .*catalog\.json: is of 2098-01-01, and what is in force is newer \(2099-01-01\)/)
  rmSync(path.join(elsewhere, 'catalog.json'))
})

t.test('if the file of a recording does not exist, the error names it', async (t) => {
  refused(t, await command('transcribe', 'nofile.wav'), /nofile\.wav: there is no such file/)
  refused(t, await command('transcribe', files), /is a folder/)
})

t.test('without a server or an API key, each command says what to do next, and --url selects a server', async (t) => {
  mkdirSync(path.join(elsewhere, 'empty'), { recursive: true })
  const dataDir = path.join(elsewhere, 'empty')
  const alone = { PARLEY_DATA_DIR: dataDir, PARLEY_PORT: String(await freePort()) }
  refused(
    t,
    await runAlone(['models'], alone),
    /^parley: no key: name one with --key or PARLEY_API_KEY, or run this in the folder of a running Parley/,
  )
  refused(t, await runAlone(['models'], { ...alone, PARLEY_API_KEY: '' }), /^parley: no key/)
  const withKey = { ...alone, PARLEY_API_KEY: parley.key }
  refused(
    t,
    await runAlone(['models'], withKey),
    /^parley: no Parley answers at http:\/\/\S+; start one with `make run`, or name another address with --url or PARLEY_URL/,
  )
  refused(t, await runAlone(['drain'], alone), 'parley: no Parley is running on this data folder')
  const reached = await runAlone(['models'], { ...alone, PARLEY_API_KEY: parley.key, PARLEY_URL: parley.url })
  t.equal(reached.code, 0, 'PARLEY_URL and PARLEY_API_KEY reach one elsewhere')
})
