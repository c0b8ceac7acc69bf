/** The examples in README and docs/realtime.md, copied and run against a started server. */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { wavHeader } from '../../audio/wav.ts'
import { call } from '../platform/setup.ts'
import { until } from '../process/machine.ts'
import { startParley } from '../process/parley.ts'
import { slowEngines } from '../realtime/socket.ts'
import { transcribe } from '../router/requests.ts'
import { spoken } from '../speech/fixtures.ts'
import { words } from '../speech/words.ts'
import { pythonEnvironment } from './python/environment.ts'
import { installNodeClients } from './setup.ts'

const run = promisify(execFile)
const root = path.resolve(import.meta.dirname, '../..')
t.setTimeout(700_000)

// All clients are installed before the first test, because tap closes the file if it waits for other work after its
// last test.
const clients = await installNodeClients('.')
const { python, missing } = await pythonEnvironment('openai.txt')
const parley = await startParley(slowEngines)
const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-readme-'))
mkdirSync(path.join(folder, '.parley'))
writeFileSync(path.join(folder, '.parley/local.key'), `${parley.key}\n`)
for (const name of ['test', 'dist']) symlinkSync(path.join(root, name), path.join(folder, name))
t.teardown(async () => {
  await parley.remove()
  rmSync(folder, { recursive: true, force: true })
})

/** Returns the code blocks in `language` if they call the server. Their server URL is replaced by the test server's. */
function examples(language: string): string[] {
  const text = ['README.md', 'docs/realtime.md'].map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))]
    .map(([, text = '']) => text)
    .filter((text) => text.includes('127.0.0.1:8080') || text.includes('dist/main.js'))
    .map((text) => text.replaceAll('127.0.0.1:8080', new URL(parley.url).host))
}

async function runIn(command: string, args: string[]): Promise<string> {
  const { stdout } = await run(command, args, { cwd: folder, timeout: 60_000 })
  return stdout
}

/** True if the recording's words follow one another in the output. Other text may surround them. */
function hasTranscript(output: string): boolean {
  return words(output).join(' ').includes(words(spoken['privacy-prompt']).join(' '))
}

t.test('the shell examples in README.md work', async (t) => {
  const [script = 'false', session = 'false', phone = 'false', ...others] = examples('sh')
  t.same(others, [])
  // The second example uses the key that the first example has set.
  const output = await runIn('bash', ['-euc', `${script}\n${session}`])
  t.match(output, /"status":"queued".*"transportToken":"v1\./)
  t.ok(hasTranscript(output), output)
  t.match(output, /^event: response\.completed$/m)
  t.equal(readFileSync(path.join(folder, 'hello.wav')).toString('latin1', 0, 4), 'RIFF')

  const called = await runIn('bash', ['-euc', phone])
  t.match(called, /"status":"dialing".*"carrierLegId":"/s)
  await until('both people talk to an agent', async () => {
    const kinds = (await phoneCalls()).filter(({ startedAt }) => startedAt !== null).map(({ kind }) => kind)
    return kinds.toSorted().join() === 'inbound,outbound'
  })
  for (const { sessionId } of await phoneCalls()) await call(parley, 'POST', `/v1/calls/${sessionId}/end`, {})
})

type PhoneCall = { sessionId: string; kind: string; startedAt: string | null }

async function phoneCalls(): Promise<PhoneCall[]> {
  const { entries } = (await call(parley, 'GET', '/v1/sessions')).json<{ entries: PhoneCall[] }>()
  return entries.filter(({ kind }) => kind !== 'browser')
}

t.test('the Node examples in README.md work', { skip: clients ?? false }, async (t) => {
  const programs = examples('js')
  t.equal(programs.length, 3)
  for (const [index, program] of programs.entries()) {
    const place = path.join(folder, `program-${index}`)
    mkdirSync(place)
    const packages = program.includes("'openai'") ? 'test/clients/node_modules' : 'node_modules'
    symlinkSync(path.join(root, packages), path.join(place, 'node_modules'))
    writeFileSync(path.join(place, 'program.mjs'), program)
    const output = await runIn(process.execPath, [path.join(place, 'program.mjs')])
    if (program.includes("'hello.pcm'")) t.match(await wordsOfSpeech(), /all lines are open/i, output)
    else t.ok(hasTranscript(output), output)
  }
})

/** Transcribes the speech that the program has written. */
async function wordsOfSpeech(): Promise<string> {
  const samples = readFileSync(path.join(folder, 'hello.pcm'))
  const wav = Buffer.concat([
    wavHeader({ encoding: 'pcm_s16le', sampleRateHz: 16_000, channels: 1 }, samples.length),
    samples,
  ])
  return (await transcribe(parley, wav)).json<{ text: string }>().text
}

t.test('the Python example in README.md works', { skip: missing ?? false }, async (t) => {
  const [program, ...others] = examples('python')
  t.same(others, [])
  const output = await runIn(python, ['-c', program ?? 'raise SystemExit(1)'])
  t.ok(hasTranscript(output), output)
})
