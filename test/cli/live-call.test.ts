/** `parley dial`: its call settings, and its lines about transfers. */
import t from 'tap'
import { runCommand, startCommand } from '../command.ts'
import { startPhones } from '../phone/phones.ts'
import { call } from '../platform/setup.ts'
import { passing } from '../router/requests.ts'
import { refused } from './refused.ts'

const phones = await startPhones()
t.teardown(() => phones.close())
const { server, clock } = phones
const env = { PARLEY_API_KEY: phones.key }

t.test("`dial` passes its settings to the call, and prints the call's transfers in plain words", async (t) => {
  const settings = ['--amd', 'disabled', '--metadata', 'order=4711', '--metadata', 'note=a=b', '--max-duration', '600']
  const live = startCommand(server, ['dial', '+15005550011', '--first-message', 'Hello.', ...settings], env)
  await clock.until('the call is connected', () => /status {2}in_progress/.test(live.output()))
  const id = /: ([0-9a-f]{8}-[0-9a-f-]{27})/.exec(live.output())?.[1] ?? ''
  const destinations = [
    { to: '+15005550003', label: 'Sales' },
    { to: '+15005550004', label: 'Manager' },
  ]
  const wanted = { destinations, screeningPrompt: 'A customer waits.' }
  const transfer = await call(phones, 'POST', `/v1/calls/${id}/transfers/warm`, wanted)
  t.equal(transfer.status, 201, transfer.text)
  await clock.until('both have been called', () => /the agent goes on/.test(live.output()))
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  t.equal((await passing(phones, live.ended)).code, 0, live.output())
  for (const line of [
    'transfer.requested  Sales (+15005550003) is called',
    'transfer.failed  Sales (+15005550003) did not take the call: the line is busy; the next number is called',
    'transfer.requested  Manager (+15005550004) is called',
    'transfer.failed  Manager (+15005550004) did not take the call: the recipient did not accept the call; the agent goes on',
  ])
    t.ok(live.output().includes(`  ${line}\n`), line)
  t.notMatch(live.output(), /machine_detection/, 'nobody looks for a machine')
  const row = (await call(phones, 'GET', `/v1/calls/${id}`)).json<{ metadata: object; pipeline_config: object }>()
  t.match(row.metadata, { order: '4711', note: 'a=b' })
  t.match(row.pipeline_config, { maxDurationSeconds: 600 })
})

t.test('`dial` refuses settings that cannot be parsed', async (t) => {
  const command = (...args: string[]) => passing(phones, runCommand(server, ['dial', '+15005550011', ...args], env))
  refused(t, await command('--amd', 'guess'), /--amd takes agent, carrier, disabled/)
  refused(t, await command('--metadata', 'order'), /--metadata takes KEY=VALUE, not order/)
  refused(t, await command('--max-duration', 'long'), /--max-duration takes a whole number from 30 to 14400, not long/)
  refused(t, await command('--max-duration', '5'), /--max-duration takes a whole number from 30 to 14400, not 5/)
})
