/**
 * Tests the built product over the simulated carrier: `parley dial` with a signal, and `parley up --simulate-inbound`.
 */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freshDataDir, testKey } from '../installation.ts'
import { call } from '../platform/setup.ts'
import { runParley } from './command.ts'
import { until } from './machine.ts'
import { entry, startParley } from './parley.ts'

const idForm = '[0-9a-f]{8}-[0-9a-f-]{27}'

t.test('if the command `dial` is interrupted, the option --hang-up decides whether its call ends', async (t) => {
  const parley = await startParley()
  t.teardown(() => parley.remove())
  const target = { url: parley.url, key: testKey }

  t.test('Ctrl-C lets the call go on, or ends the call if --hang-up is set', async (t) => {
    const left = await interrupted(t, parley.dataDir, ['+15005550011'])
    t.equal(left.code, 130)
    t.match(left.output, /the call goes on; `parley calls tail \S+` follows it, `parley calls end \S+` ends it/)
    const { id } = left
    t.equal((await call(target, 'GET', `/v1/calls/${id}`)).json<{ ended_at: string | null }>().ended_at, null)
    const commanded = await runParley(['calls', 'end', id], {
      dataDir: parley.dataDir,
      env: { PARLEY_API_KEY: testKey },
    })
    t.equal(commanded.stdout, `${id} ends now\n`, commanded.stderr)
    const ended = await interrupted(t, parley.dataDir, ['+15005550011', '--hang-up'])
    t.equal(ended.code, 0, ended.output)
    t.match(ended.output, /^api_ended, /m)
  })
})

/** Runs `parley dial` and sends SIGINT as soon as the call is connected. */
async function interrupted(t: Test, dataDir: string, args: readonly string[]) {
  const env = { ...process.env, PARLEY_DATA_DIR: dataDir, PARLEY_API_KEY: testKey }
  const child = spawn(entry, ['dial', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await until('it is connected', () => /status {2}in_progress/.test(output))
  child.kill('SIGINT')
  const code = await ended
  return { code, output, id: new RegExp(`: (${idForm})`).exec(output)?.[1] ?? '' }
}

t.test('the command `up --simulate-inbound` prints a call from a simulated person', async (t) => {
  const parley = await startParley({}, freshDataDir(), ['up', '--simulate-inbound', 'Goodbye.'])
  t.teardown(() => parley.remove())
  for (let tries = 0; tries < 1200 && !/the session is over/.test(parley.output()); tries++) await sleep(100)
  t.match(parley.output(), /^\+15005550006 calls \+15005550100$/m)
  t.match(parley.output(), /^agent {3}Hello, this is Parley\. What can I do for you\?/m)
  t.match(parley.output(), /^the session is over$/m)
})

t.test('the command `up --simulate-inbound` keeps serving if the simulated call fails', async (t) => {
  const dataDir = freshDataDir()
  const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_API_KEY: `sk_live_${'x'.repeat(40)}` }, dataDir, [
    'up',
    '--simulate-inbound',
  ])
  t.teardown(() => parley.remove())
  await until('it says so', () => /the simulated call has failed: PARLEY_API_KEY is refused by/.test(parley.output()))
  t.equal((await fetch(`${parley.url}/healthz`)).status, 200)
})
