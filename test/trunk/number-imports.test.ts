/** Two organizations import one number: both see it, and the operator decides where its calls go. */
import t from 'tap'
import { jsonOf, outputOf } from '../cli/output.ts'
import { refused } from '../cli/refused.ts'
import { runCommand } from '../command.ts'
import { startPhones } from '../phone/phones.ts'
import { call, openAdministration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { freePort } from '../process/machine.ts'
import type { Target } from '../router/requests.ts'
import { serverInTime } from '../time/server.ts'
import { SipPeer, sdp, sdpType, wanted } from './sip-peer.ts'
import { type ImportedNumber, importInbound, trunkEnv } from './trunk-server.ts'

const sipPort = await freePort()
const phones = await startPhones({ ...trunkEnv(sipPort), PARLEY_SIP_IMPORTS_NEED_APPROVAL: '' })
t.teardown(() => phones.close())
const admin = await openAdministration(phones.server)
t.teardown(() => admin.close())
const sql = openDatabase(phones.server)
t.teardown(() => sql.end())
const peer = await SipPeer.open({ port: sipPort, address: '127.0.0.2', clock: phones.clock })
t.teardown(() => peer.close())

const range = '127.0.0.2/32'
const [early, late] = ['+15005550161', '+15005550162']
const command = (...args: string[]) => runCommand(phones.server, ['numbers', ...args])

/** Imports the number a second after the last import. */
async function imported(target: Target, number: string): Promise<ImportedNumber> {
  await phones.clock.advance(1_000)
  return await importInbound(target, range, number)
}

async function setupOf(target: Target, { id }: ImportedNumber) {
  return (await call(target, 'GET', `/v1/phone-numbers/${id}`)).json<ImportedNumber>().setupStatus
}

let calls = 0

/** Calls the number and hangs up. Returns the called organization, or null if the call is refused. */
async function calledBy(number: string): Promise<string | null> {
  const callId = `call-${++calls}`
  const call = { callId, uri: `sip:${number}@127.0.0.1`, branch: `z9hG4bK-${callId}` }
  peer.send('INVITE', { ...call, headers: [sdpType], body: sdp() })
  const answers = () => [...peer.responses(200), ...peer.responses(404)].find((answer) => answer.callId === callId)
  const { code, to } = await wanted(answers, `an answer to ${callId}`, phones.clock)
  peer.send('ACK', { ...call, to: to.text })
  if (code === 404) return null
  peer.send('BYE', { callId, to: to.text, cseq: 2 })
  const [row] = await sql<{ id: string }[]>`
    select organization_id as id from calls order by created_at desc, id desc limit 1`
  return row?.id ?? null
}

t.test("the import of a number needs the operator's approval once there are two organizations", async (t) => {
  const [own] = await sql<{ id: string }[]>`select id from organizations`
  const first = await imported(phones, early)
  t.match(first.setupStatus, { status: 'ready', issues: ['forwarding_required'] }, 'the only organization')
  t.equal(await outputOf(t, command('conflicts')), 'no number has several organizations')

  const two = await admin.organization('two')
  const taken = await imported(two, early)
  const waiting = ['forwarding_required', 'approval_pending', 'number_also_imported']
  t.match(taken.setupStatus, { status: 'action_required', inboundReady: false, issues: waiting })
  t.match(await setupOf(phones, first), { status: 'ready', issues: ['forwarding_required', 'number_also_imported'] })
  t.equal(await calledBy(early), own?.id)

  const squatted = await imported(two, late)
  t.match(squatted.setupStatus.issues, ['forwarding_required', 'approval_pending'])
  t.equal(await calledBy(late), null)
  const honest = await imported(phones, late)
  t.match(honest.setupStatus, { status: 'action_required', issues: waiting })

  const { data } = await jsonOf<{ data: object[] }>(command('conflicts', '--json'))
  t.match(data, [
    { e164: early, organizationId: own?.id, awaitsApproval: false },
    { e164: early, organizationId: two.id, organizationName: 'two', awaitsApproval: true },
    { e164: late, organizationId: two.id, awaitsApproval: true },
    { e164: late, organizationId: own?.id, awaitsApproval: true },
  ])
  t.match(
    await outputOf(t, command('waiting')),
    /\+15005550162 +org_\w+ +two +Trunk \+15005550162 .*waits for approval/,
  )
  t.match(await outputOf(t, command('approve', late, '--org', own?.id ?? '')), /is approved/)
  t.match(await setupOf(phones, honest), {
    inboundReady: true,
    issues: ['forwarding_required', 'number_also_imported'],
  })
  t.equal(await calledBy(late), own?.id, 'the older import still waits')
  refused(t, await command('approve', late, '--org', own?.id ?? ''), /no import of \+15005550162 waits/)
})

t.test('an import needs approval even if the other organization has sent no request to this server', async (t) => {
  const server = await serverInTime(t, { ...trunkEnv(await freePort()), PARLEY_SIP_IMPORTS_NEED_APPROVAL: '' })
  const admin = await openAdministration(server)
  t.teardown(() => admin.close())
  const two = await admin.organization('two')
  const { setupStatus } = await importInbound(two, range, early)
  t.match(setupStatus.issues, ['forwarding_required', 'approval_pending'])
})
