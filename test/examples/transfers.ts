import type { Test } from 'tap'
import { newCall } from '../calls/call.ts'
import { hasEnded, type PhoneCallRow } from '../phone/call-rows.ts'
import { callWhen } from '../phone/real-time-calls.ts'
import { insertNumber } from '../phone/stored-number.ts'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import type { TestServer } from '../server.ts'
import type { Examples, Received, Sent } from './run.ts'

type Server = { parley: TestServer; admin: Administration }
type Fields = { id: string; sessionId: string }

/** Compares responses about transfers with the contract's examples, over the simulated carrier. */
export async function compareTransfers(t: Test, examples: Examples, { parley, admin }: Server): Promise<void> {
  const acme = await admin.organization('with transfers')
  const send = (sent: Sent) => examples.send(acme, sent)
  /**
   * The examples call +15005550017, who answers after a second. Here +15005550019 answers and decides nothing, and the
   * phone of +15005550007 rings for 20 s, so an example that shows a ringing phone does not depend on the machine.
   */
  const renamed = { [acme.id]: 'local', '+15005550019': '+15005550017', '+15005550007': '+15005550017' }
  const compare = (received: Received, example: string) => examples.compare(t, received, { example, renamed })
  const sql = openDatabase(parley)
  await insertNumber(sql, { organizationId: acme.id, test: false }, { e164: '+15005550151', direction: 'both' })
  await sql.end()
  const browser = newCall(acme.id)
  await admin.store.calls.insert(browser, {})
  const blind = { operation: 'transferCallBlind', request: 'sales' }
  compare(await send({ ...blind, values: { id: browser.id } }), 'TransferConflict: browser')

  const id = await talking(acme, send)
  const values = { id }
  const warm = { operation: 'transferCallWarm', request: 'sales', values }
  const summary = 'The caller has asked for a bicycle for a child.'
  const rings = { to: '+15005550007', label: 'Sales', summary }
  const asked = await send({ ...warm, fields: { destinations: [rings, { to: '+15005550015', label: 'Manager' }] } })
  compare(asked, 'transferCallWarm 201: requested')
  compare(await send({ ...blind, values }), 'TransferConflict: open')
  const first = { id, transferId: fieldsOf(asked).id }
  const back = await send({ operation: 'cancelTransfer', request: 'back', values: first })
  compare(back, 'cancelTransfer 200: cancelled')
  const again = fieldsOf(await send({ ...warm, fields: { destinations: [{ to: '+15005550019' }] } }))
  const second = { id, transferId: again.id }
  await callWhen(acme, id, (row) => newestOf(row) === 'screening')
  const fields = { recipientParticipantIdentity: `transfer_${again.id}` }
  const completed = await send({ operation: 'completeTransfer', request: 'checked', fields, values: second })
  t.equal(completed.status, 200, completed.body.toString())
  await callWhen(acme, id, (row) => newestOf(row) === 'completed' && row.status === 'in_progress')
  compare(await send({ operation: 'webJoinCall', request: 'named', values }), 'CallConflict: transferred')
  compare(await send(warm), 'TransferConflict: transferred')
  compare(await send({ operation: 'cancelTransfer', values: second }), 'TransferConflict: state')
  await end(acme, send, id)
  compare(await send(warm), 'TransferConflict: notLive')

  const other = { id: await talking(acme, send) }
  compare(await send({ ...blind, fields: { to: '+15005550001' }, values: other }), 'TransferNotDialed: refused')
  await callWhen(acme, other.id, ({ status }) => status === 'in_progress')
  const requested = await send({ ...blind, fields: { to: '+15005550007' }, values: other })
  compare(requested, 'transferCallBlind 201: requested')
  await end(acme, send, other.id)
}

/** Starts a call to a person and waits until the person has answered. */
async function talking(target: Target, send: (sent: Sent) => Promise<Received>): Promise<string> {
  const fields = { to: '+15005550006', from: '+15005550151' }
  const { sessionId } = fieldsOf(await send({ operation: 'createPhoneSession', request: 'adHoc', fields }))
  await callWhen(target, sessionId, ({ status }) => status === 'in_progress')
  return sessionId
}

async function end(target: Target, send: (sent: Sent) => Promise<Received>, id: string): Promise<void> {
  await send({ operation: 'endCall', values: { id } })
  await callWhen(target, id, hasEnded)
}

const fieldsOf = ({ body }: Received) => JSON.parse(body.toString()) as Fields
const newestOf = (row: PhoneCallRow) => (row['transfers'] as { status: string }[]).at(-1)?.status
