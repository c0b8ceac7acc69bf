/** Many commands come from one table. They share the options --url and --key, and print lists in one shape. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { bodyOf } from '../../cli/body-options.ts'
import { operationRows } from '../../cli/operations.ts'
import { listIn } from '../../cli/print.ts'
import { createPlatformClient } from '../../generated/clients/typescript/platform.ts'
import { runAlone, runCommand } from '../command.ts'
import { freePort } from '../process/machine.ts'
import { serverWith } from '../server.ts'
import { jsonOf, outputOf } from './output.ts'
import { refused } from './refused.ts'

const parley = await serverWith()
const env = { PARLEY_API_KEY: parley.key }
const run = (...args: string[]) => runCommand(parley, args, env)
const read = <Printed>(...args: string[]) => jsonOf<Printed>(run(...args, '--json'))

/** Operations without a command, because only programs use them, each with the reason. */
const forPrograms: Readonly<Record<string, string>> = {
  streamCalls: 'A list on a screen follows it. At a terminal, `parley calls list` reads the list.',
  getCallRecordingAudio: 'A player plays it. At a terminal, `parley bundle` saves the recording.',
  getRecordingPeaks: 'A waveform is drawn. At a terminal, `parley bundle` saves the recording.',
}

t.test('every operation of the platform has a command', (t) => {
  const folder = path.resolve(import.meta.dirname, '../../cli')
  const sources = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'))
  const inTable = new Set<string>(operationRows.map(({ operation }) => operation))
  const operations = Object.keys(createPlatformClient({ baseUrl: parley.url }))
  t.ok(operations.length > 80)
  for (const name of operations.filter((each) => !Object.hasOwn(forPrograms, each)))
    t.ok(inTable.has(name) || sources.some((text) => text.includes(`.${name}(`)), `${name} has a command`)
  t.equal(new Set(operationRows.map(({ words }) => words)).size, operationRows.length, 'each command is listed once')
  t.end()
})

t.test('commands create, change, show, list and delete agents and tools', async (t) => {
  await outputOf(t, run('agents', 'create', '--name', 'desk', '--prompt', 'Be brief.', '--language', 'en'))
  const changed = await read<{ name: string; firstMessage: string; intent: object }>(
    ...['agents', 'update', 'desk', '--set', 'firstMessage=Good day.', '--set', 'intent.optimizeFor=latency'],
    ...['--set', 'intent.language=en'],
  )
  t.match(changed, { firstMessage: 'Good day.', intent: { language: 'en', optimizeFor: 'latency' } })
  const tool = await read<{ id: string }>(
    ...['tools', 'create', 'desk', '--set', 'name=find_order', '--set', 'description=Finds an order.'],
    ...['--set', 'source.kind=webhook', '--set', 'source.url=https://example.com/order'],
  )
  t.match(await outputOf(t, run('tools', 'list', 'desk')), /find_order/)
  await outputOf(t, run('tools', 'update', 'desk', tool.id, '--set', 'description=Finds one order.'))
  t.match(await outputOf(t, run('tools', 'show', 'desk', tool.id)), /description +Finds one order\./)
  await outputOf(t, run('tools', 'delete', 'desk', tool.id))
  t.equal(await outputOf(t, run('tools', 'list', 'desk')), 'none')
})

t.test('commands create and show endpoints and sessions, and show organization, providers and contracts', async (t) => {
  const hook = ['--set', 'url=https://example.com/hook', '--set', 'events=["call.report"]', '--set', 'allAgents=true']
  await outputOf(t, run('webhooks', 'create', '--set', 'name=reports', ...hook))
  t.match(await outputOf(t, run('webhooks', 'show', 'reports')), /call\.report/)
  await outputOf(t, run('webhooks', 'delete', 'reports'))
  const session = await read<{ sessionId: string; transportUrl: string }>(
    ...['sessions', 'create', '--set', 'systemPrompt=Be brief.', '--set', 'intent.language=en'],
  )
  t.match(session.transportUrl, /\/media$/)
  t.match(await outputOf(t, run('sessions', 'show', session.sessionId)), /sessionId|id/)
  t.match(await outputOf(t, run('organization', 'show')), /org_/)
  t.match(await outputOf(t, run('providers', 'known')), /openai/)
  refused(t, await run('providers', 'check', 'local'), /VALIDATION_ERROR[^]*free request/)
  t.match(await read('contract', 'platform'), { openapi: '3.1.0' })
})

t.test('--set builds the body of a request', async (t) => {
  const of = (...set: string[]) => bodyOf('required', { set })
  t.same(await of('a=1', 'b=x', 'c.d=true', 'c.e=["f"]', 'g="1"', 'h=', 'i=a=b'), {
    body: { a: 1, b: 'x', c: { d: true, e: ['f'] }, g: '1', h: '', i: 'a=b' },
  })
  t.same(Object.keys((await of('__proto__.x=1')).body ?? {}), ['__proto__'], 'a name is a name')
  t.same(await bodyOf('optional', { set: [] }), {})
  for (const wrong of ['a', '=1', '.a=1', 'a..b=1']) await t.rejects(of(wrong), /--set takes FIELD=VALUE/)
  await t.rejects(bodyOf('required', { set: [] }), /--set, or a file with --file/)
})

t.test('with --json every list command prints an object with the array `data`', async (t) => {
  for (const command of [
    ['agents', 'list'],
    ['numbers', 'list'],
    ['calls', 'list'],
    ['models'],
    ['webhooks', 'list'],
    ['callbacks', 'list'],
    ['credits'],
    ['providers', 'list'],
    ['org', 'list'],
  ])
    t.match(await read(...command), { data: Array }, command.join(' '))
  t.equal(listIn({ settings: {}, providers: [] }), null, 'a thing with a list of its own is no list')
  t.match(listIn({ entries: [], nextCursor: 'c' }), { items: [], nextCursor: 'c' })
})

t.test('--url and --key take precedence over the environment, before and after the command', async (t) => {
  const nowhere = { PARLEY_URL: 'http://127.0.0.1:9', PARLEY_API_KEY: 'sk_live_wrong' }
  const named = ['--url', `${parley.url}/`, '--key', parley.key]
  t.equal((await runAlone([...named, 'agents', 'list'], nowhere)).code, 0)
  t.equal((await runAlone(['agents', 'list', ...named], nowhere)).code, 0)
  const help = await runAlone(['agents', 'list', '--help'], nowhere)
  t.match(help.stdout, /Global Options:\n[^]* +--url <address>/)
})

t.test('the error of a command names the URL that failed or the API key that was refused', async (t) => {
  const at = (url: string, key = parley.key) => runAlone(['agents', 'list'], { PARLEY_URL: url, PARLEY_API_KEY: key })
  refused(t, await at(parley.url, 'sk_live_wrong'), `parley: PARLEY_API_KEY is refused by ${parley.url}: `)
  refused(t, await runAlone(['agents', 'list', '--key', 'k', '--url', parley.url], {}), '--key is refused by')
  const free = `http://127.0.0.1:${await freePort()}`
  refused(
    t,
    await at(free),
    `no Parley answers at ${free}; start one with \`make run\`, or name another address with --url`,
  )
  refused(t, await at('http://127.0.0.1:9'), 'http://127.0.0.1:9 cannot be reached (bad port)')
  refused(t, await at('http://nowhere.invalid:80'), /there is no host nowhere\.invalid|cannot be reached/)
  for (const wrong of ['nonsense', 'ftp://x', '127.0.0.1:8080'])
    refused(t, await at(wrong), `PARLEY_URL: ${wrong} is no address such as http://127.0.0.1:8080`)
  const local = await runAlone(['agents', 'list', '--url', 'http://192.0.2.1:8080'], {
    PARLEY_DATA_DIR: parley.dataDir,
  })
  refused(t, local, 'no key for 192.0.2.1:8080: a local key is sent to this machine alone; name one with --key')
})

t.test('a wrong command line exits with code 2 and a short error, and help is printed only on request', async (t) => {
  for (const line of [
    ['sing'],
    ['agents', 'sing'],
    ['agents', 'create', '--long'],
    ['tools', 'create'],
    ['tools', 'create', 'desk'],
    ['usage', '--by', 'moon'],
    ['org', 'set', 'x', 'colour=red'],
    ['completion', 'sh'],
    ['--url', 'nonsense', 'agents', 'list'],
  ]) {
    const { code, stdout, stderr } = await runCommand(parley, line, env)
    t.equal(code, 2, `${line.join(' ')}: ${stderr}`)
    t.ok(stderr.trim().split('\n').length <= 3, stderr)
    t.equal(stdout, '')
  }
  t.equal((await run('agents', 'show', 'nobody')).code, 1, 'a failure is 1')
})

t.test('`completion` prints a script for each shell', async (t) => {
  const bash = await outputOf(t, run('completion', 'bash'))
  t.match(bash, /'agents'\) words='list .*\bupdate\b.*--help' ;;/)
  t.match(bash, /'tools create'\) words='--file --set --json --url --key --help' ;;/)
  t.match(await outputOf(t, run('completion', 'zsh')), /bashcompinit/)
  t.match(await outputOf(t, run('completion', 'fish')), /complete -c parley .* -a 'doctor'/)
})

t.test('if the output file cannot be written, a speech command fails before speech is requested', async (t) => {
  refused(t, await run('speak', 'Hello.', '-o', '/nowhere/x.wav'), 'parley: --out: there is no folder /nowhere')
  refused(t, await run('speak', 'Hello.', '-o', 'x.mp3'), 'parley: --out: x.mp3 would be a WAV file')
})

t.test("`models list --language` lists the language's models, and counts the others", async (t) => {
  t.match(await outputOf(t, run('models')), /^stt .*moonshine/m)
  const german = await outputOf(t, run('models', '--language', 'de-AT'))
  t.notMatch(german, /moonshine|hibari|flite/)
  t.match(german, /\d+ more do not know the language de-AT/)
})
