/** `parley dial` of the built product: its settings of a call, and what it shows of the transfers of the call. */
import { spawn } from 'node:child_process'
import t, { type Test } from 'tap'
import { call } from '../platform/setup.ts'
import { runParley } from '../process/command.ts'
import { until } from '../process/machine.ts'
import { entry, startParley, testKey } from '../process/parley.ts'
import { refused } from './refused.ts'

const parley = await startParley()
t.teardown(() => parley.remove())
const target = { url: parley.url, key: testKey }

t.test('dial shows the transfers of a call in plain words, with the settings that it was given', async (t) => {
  const settings = ['--amd', 'disabled', '--metadata', 'order=4711', '--metadata', 'note=a=b', '--max-duration', '600']
  const live = dialled(t, ['+15005550011', '--first-message', 'Hello.', ...settings])
  await until('the call is connected', () => /status {2}in_progress/.test(live.output()))
  const id = /: ([0-9a-f]{8}-[0-9a-f-]{27})/.exec(live.output())?.[1] ?? ''
  const destinations = [
    { to: '+15005550003', label: 'Sales' },
    { to: '+15005550004', label: 'Manager' },
  ]
  const wanted = { destinations, screeningPrompt: 'A customer waits.' }
  const transfer = await call(target, 'POST', `/v1/calls/${id}/transfers/warm`, wanted)
  t.equal(transfer.status, 201, transfer.text)
  await until('both have been called', () => /the agent goes on/.test(live.output()), 30_000)
  await call(target, 'POST', `/v1/calls/${id}/end`)
  t.equal(await live.ended, 0, live.output())
  for (const line of [
    'transfer.requested  Sales (+15005550003) is called',
    'transfer.failed  Sales (+15005550003) was not reached: the line is busy; the next number is called',
    'transfer.requested  Manager (+15005550004) is called',
    'transfer.failed  Manager (+15005550004) was not reached: the call was declined; the agent goes on',
  ])
    t.ok(live.output().includes(`  ${line}\n`), line)
  t.notMatch(live.output(), /machine_detection/, 'nobody looks for a machine')
  const row = (await call(target, 'GET', `/v1/calls/${id}`)).json<{ metadata: object; pipeline_config: object }>()
  t.match(row.metadata, { order: '4711', note: 'a=b' })
  t.match(row.pipeline_config, { maxDurationSeconds: 600 })
})

t.test('dial refuses settings that it cannot read', async (t) => {
  const command = (...args: string[]) =>
    runParley(['dial', '+15005550011', ...args], { dataDir: parley.dataDir, env: { PARLEY_API_KEY: parley.key } })
  refused(t, await command('--amd', 'guess'), /--amd takes agent, carrier, disabled/)
  refused(t, await command('--metadata', 'order'), /--metadata takes KEY=VALUE, not order/)
  refused(t, await command('--max-duration', 'long'), /--max-duration takes whole seconds, not long/)
  refused(t, await command('--max-duration', '5'), /VALIDATION_ERROR: \/maxDurationSeconds must be >= 30/)
})

function dialled(t: Test, args: readonly string[]) {
  const env = { ...process.env, PARLEY_DATA_DIR: parley.dataDir, PARLEY_API_KEY: testKey }
  const child = spawn(entry, ['dial', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { output: () => output, ended }
}
