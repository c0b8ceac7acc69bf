/** Tests `parley dial` over the simulated carrier, on a test clock. */
import t from 'tap'
import { platformClient } from '../../cli/client.ts'
import { calledNumber } from '../../cli/simulate-inbound.ts'
import { runCommand } from '../command.ts'
import { hasEnded } from '../phone/call-rows.ts'
import { callWhen, newestInbound, startPhones } from '../phone/phones.ts'
import { call } from '../platform/setup.ts'
import { freePort } from '../process/machine.ts'
import { passing } from '../router/requests.ts'
import { refused } from './refused.ts'

const idForm = '[0-9a-f]{8}-[0-9a-f-]{27}'

t.test('`dial` follows a call, and prints the reason if the call fails', async (t) => {
  const phones = await startPhones()
  t.teardown(() => phones.close())
  const env = { PARLEY_API_KEY: phones.key }
  const command = (...args: string[]) => passing(phones, runCommand(phones.server, ['dial', ...args], env))

  t.test('`dial` follows a call until the person on the phone hangs up', async (t) => {
    const { code, stdout, stderr } = await command('+15005550021', '--first-message', 'Hello, this is a test.')
    t.equal(code, 0, stderr)
    t.match(stdout, new RegExp(`^\\+15005550100 calls \\+15005550021: ${idForm}\\nstatus {2}dialing\\n`))
    t.match(stdout, /^event {3}[\d:.]{12} {2}carrier\.answered$/m)
    t.match(stdout, /^the session is over\nuser_hangup, 0:0\d\.\d; `parley calls show \S+` has the transcript/m)
  })

  t.test('a call to the simulated person is a conversation that the simulated person ends', async (t) => {
    const { code, stdout, stderr } = await command('+15005550006')
    t.equal(code, 0, stderr)
    t.match(stdout, /^agent {3}Hello, this is the bicycle shop\./m, 'the first words of the person are understood')
    t.match(stdout, /^agent {3}.*goodbye/im)
    t.notMatch(stdout, /stand-in/, 'each question is answered')
    t.match(stdout, /^the session is over\nuser_hangup, /m)
  })

  t.test("--simulate-inbound never selects a SIP trunk's number, even if it has an agent", async (t) => {
    const trunk = { name: 'Trunk', inbound: { allowedAddresses: ['203.0.113.0/28'] } }
    const { id } = (await call(phones, 'POST', '/v1/phone-numbers/sip-connections', trunk)).json<{ id: string }>()
    const wanted = { e164: '+493012345678', sipConnectionInstallationId: id, agentId: phones.agentId }
    const imported = await call(phones, 'POST', '/v1/phone-numbers/import', wanted)
    t.equal(imported.status, 201, imported.text)
    const client = platformClient({ baseUrl: phones.url, apiKey: phones.key })
    t.equal(await passing(phones, calledNumber(client)), phones.number)
    await call(phones, 'DELETE', `/v1/phone-numbers/${imported.json<{ id: string }>().id}`)
  })

  t.test('if a call is not answered, `dial` fails and prints the reason', async (t) => {
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
    refused(t, await command('+15005550006', '--ring', 'long'), /--ring takes a whole number from 1 to 120, not long/)
    const nowhere = { ...phones.server, url: `http://127.0.0.1:${await freePort()}` }
    refused(t, await passing(phones, runCommand(nowhere, ['dial', '+15005550006'], env)), /no Parley answers/)
  })

  t.test("the lists show the other party's number, except a withheld one", async (t) => {
    const ring = async (from: string | null) => {
      await call(phones, 'POST', '/simulator/calls', { from, to: phones.number, lines: ['Goodbye.'] })
      return newestInbound(phones, known)
    }
    const known = new Set<string>()
    const outbound = (await command('+15005550021', '--no-follow')).stdout.trim()
    const inbound = await ring('+15005550006')
    known.add(inbound)
    const withheld = await ring(null)
    for (const id of [outbound, inbound, withheld]) await callWhen(phones, id, hasEnded)
    const { stdout } = await passing(phones, runCommand(phones.server, ['calls', 'list'], env))
    t.match(stdout, new RegExp(`${outbound} .* outbound +\\+15005550021 `))
    t.match(stdout, new RegExp(`${inbound} .* inbound +\\+15005550006 `))
    t.match(stdout, new RegExp(`${withheld} .* inbound +– `))
    const { entries } = (await call(phones, 'GET', '/v1/sessions')).json<{ entries: { sessionId: string }[] }>()
    const item = (id: string) => entries.find(({ sessionId }) => sessionId === id)
    t.match(item(outbound), { direction: 'outbound', from: phones.number, to: '+15005550021' })
    t.match(item(inbound), { direction: 'inbound', from: '+15005550006', to: phones.number })
    t.notOk('from' in (item(withheld) ?? {}))
  })

  t.test('`dial` can print only the id of the call, or JSON', async (t) => {
    const started = await command('+15005550021', '--no-follow')
    t.match(started.stdout, new RegExp(`^${idForm}\\n$`))
    await callWhen(phones, started.stdout.trim(), hasEnded)
    const { stdout } = await command('+15005550021', '--json')
    const lines = stdout.trim().split('\n')
    t.match(JSON.parse(lines[0] ?? ''), { status: 'dialing', to: '+15005550021' })
    t.match(JSON.parse(lines.at(-1) ?? ''), { event: 'end', data: { reason: 'session_ended' } })
  })
})
