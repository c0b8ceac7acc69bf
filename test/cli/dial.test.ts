/** `parley dial` and `parley up --simulate-inbound`, of the built product over the simulated carrier. */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { callWhen, hasEnded } from '../phone/built-phones.ts'
import { call } from '../platform/setup.ts'
import { runParley } from '../process/command.ts'
import { freePort, until } from '../process/machine.ts'
import { entry, freshDataDir, startParley, testKey } from '../process/parley.ts'
import { refused } from './refused.ts'

const idForm = '[0-9a-f]{8}-[0-9a-f-]{27}'

t.test('dial', async (t) => {
  const parley = await startParley()
  t.teardown(() => parley.remove())
  const target = { url: parley.url, key: testKey }
  const env = { PARLEY_API_KEY: parley.key }
  const command = (...args: string[]) =>
    runParley(['dial', ...args], { dataDir: parley.dataDir, env, timeoutMs: 240_000 })

  t.test('shows a call until the person has left', async (t) => {
    const { code, stdout, stderr } = await command('+15005550021', '--first-message', 'Hello, this is a test.')
    t.equal(code, 0, stderr)
    t.match(stdout, new RegExp(`^\\+15005550100 calls \\+15005550021: ${idForm}\\nstatus {2}dialing\\n`))
    t.match(stdout, /^event {3}[\d:.]{12} {2}carrier\.answered$/m)
    t.match(stdout, /^the session is over\nuser_hangup, 0:0\d\.\d; `parley calls show \S+` has the transcript/m)
  })

  t.test('a call to the simulated person is a conversation, and ends by itself', async (t) => {
    const { code, stdout, stderr } = await command('+15005550006')
    t.equal(code, 0, stderr)
    t.match(stdout, /^agent {3}Hello, this is the bicycle shop\./m, 'the first words of the person are understood')
    t.match(stdout, /^agent {3}.*goodbye/im)
    t.notMatch(stdout, /stand-in/, 'each question is answered')
    t.match(stdout, /^the session is over\nuser_hangup, /m)
  })

  t.test('fails for a call that reaches nobody, and says why', async (t) => {
    for (const [number, reason] of [
      ['+15005550003', 'busy; call again later'],
      ['+15005550004', 'failed, declined; call again later or another number'],
      ['+15005550005', 'failed, carrier_error; call again later, and if it fails again ask the operator'],
      ['+15005550008', 'voicemail; to talk to it all the same, call with --amd disabled'],
    ] as const) {
      const { code, stdout, stderr } = await command(number)
      t.equal(code, 1)
      if (!reason.startsWith('voicemail')) t.match(stdout, /not connected/)
      t.ok(stderr.startsWith(`parley: the call did not reach anybody: ${reason}`), stderr)
    }
    refused(t, await command('+15005550001'), /CARRIER_DIAL_FAILED/)
    refused(t, await command('12'), /VALIDATION_ERROR: \/to must be a phone number/)
    refused(t, await command('+15005550006', '--from', '+12125550100'), /VALIDATION_ERROR: \/from must be /)
    refused(t, await command('+15005550006', '--agent', 'agent_0123456789012345678901'), /NOT_FOUND/)
    refused(t, await command('+15005550006', '--ring', 'long'), /--ring takes whole seconds, not long/)
    const nowhere = { ...env, PARLEY_URL: `http://127.0.0.1:${await freePort()}` }
    refused(
      t,
      await runParley(['dial', '+15005550006'], { dataDir: parley.dataDir, env: nowhere }),
      /no Parley answers/,
    )
  })

  t.test('prints the id alone, or JSON, for programs', async (t) => {
    const started = await command('+15005550021', '--no-follow')
    t.match(started.stdout, new RegExp(`^${idForm}\\n$`))
    await callWhen(target, started.stdout.trim(), hasEnded)
    const { stdout } = await command('+15005550021', '--json')
    const lines = stdout.trim().split('\n')
    t.match(JSON.parse(lines[0] ?? ''), { status: 'dialing', to: '+15005550021' })
    t.match(JSON.parse(lines.at(-1) ?? ''), { event: 'end', data: { reason: 'session_ended' } })
  })

  t.test('Ctrl-C leaves the call, or ends it with --hang-up', async (t) => {
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

/** Sends SIGINT as soon as the call is connected. */
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

t.test('up --simulate-inbound shows a call of a simulated person', async (t) => {
  const parley = await startParley({}, freshDataDir(), ['up', '--simulate-inbound', 'Goodbye.'])
  t.teardown(() => parley.remove())
  for (let tries = 0; tries < 1200 && !/the session is over/.test(parley.output()); tries++) await sleep(100)
  t.match(parley.output(), /^\+15005550006 calls \+15005550100$/m)
  t.match(parley.output(), /^agent {3}Hello, this is Parley\. What can I do for you\?/m)
  t.match(parley.output(), /^the session is over$/m)
})

t.test('up --simulate-inbound goes on where nobody can be called', async (t) => {
  const dataDir = freshDataDir()
  const parley = await startParley({ PARLEY_BOOTSTRAP_KEY: '', PARLEY_API_KEY: `sk_live_${'x'.repeat(40)}` }, dataDir, [
    'up',
    '--simulate-inbound',
  ])
  t.teardown(() => parley.remove())
  await until('it says so', () => /the simulated call has failed: UNAUTHORIZED/.test(parley.output()))
  t.equal((await fetch(`${parley.url}/healthz`)).status, 200)
})
