import type { Test } from 'tap'
import { insertNumber } from '../phone/stored-number.ts'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { Target } from '../router/requests.ts'
import type { TestServer } from '../server.ts'
import { type Examples, idOf, type Received, type Sent } from './run.ts'

type Server = { parley: TestServer; admin: Administration }

/** Compares responses about phone numbers with the contract's examples. `sipAddress` is the server's own. */
export async function comparePhoneNumbers(
  t: Test,
  examples: Examples,
  { parley, admin }: Server,
  sipAddress: string,
): Promise<void> {
  const acme = await admin.organization('with phone numbers')
  const send = (sent: Sent) => examples.send(acme, sent)
  const compare = (received: Received, example: string) =>
    examples.compare(t, received, { example, renamed: { '+15005550150': '+15005550100' } })
  compare(await send({ operation: 'listPhoneNumbers' }), 'listPhoneNumbers 200: none')
  const sql = openDatabase(parley)
  const tenant = { organizationId: acme.id, test: false }
  const id = await insertNumber(sql, tenant, {
    e164: '+15005550150',
    direction: 'both',
    label: 'Simulated number',
    template: {
      intent: { language: 'en-US' },
      systemPrompt: 'You answer the phone of a new installation of Parley. Be brief and friendly.',
      firstMessage: 'Hello, this is Parley. What can I do for you?',
    },
  })
  await sql.end()
  const values = { id }
  compare(await send({ operation: 'listPhoneNumbers' }), 'listPhoneNumbers 200: one')
  compare(await send({ operation: 'getPhoneNumber', values }), 'getPhoneNumber 200: simulated')
  const change = { operation: 'updatePhoneNumber', values }
  compare(await send({ ...change, request: 'label' }), 'updatePhoneNumber 200: label')
  compare(await send({ ...change, request: 'nothing' }), 'updatePhoneNumber 200: label')
  compare(await send({ ...change, request: 'template' }), 'updatePhoneNumber 200: template')
  compare(await send({ operation: 'purchasePhoneNumber', request: 'least' }), 'Forbidden: verification')
  const testKey = await admin.key(acme.id, { test: true })
  await compareTrunks(t, examples, { live: acme, test: testKey }, { [`sip:${sipAddress}`]: 'sip:198.51.100.7:5060' })
  await comparePurchases(t, examples, parley)
}

async function compareTrunks(
  t: Test,
  examples: Examples,
  keys: { live: Target; test: Target },
  renamed: Record<string, string>,
): Promise<void> {
  const send = (sent: Sent) => examples.send(keys.live, sent)
  const compare = (received: Received, example: string) => examples.compare(t, received, { example, renamed })
  compare(await send({ operation: 'listSipConnections' }), 'listSipConnections 200: none')
  const made = await send({ operation: 'createSipConnection', request: 'trunk' })
  compare(made, 'createSipConnection 201: trunk')
  compare(await send({ operation: 'listSipConnections' }), 'listSipConnections 200: one')
  const change = { operation: 'updateSipConnection', values: { id: idOf(made) } }
  compare(await send({ ...change, request: 'name' }), 'updateSipConnection 200: name')
  compare(await send({ ...change, request: 'login' }), 'updateSipConnection 200: login')
  const fields = { sipConnectionInstallationId: idOf(made) }
  const imported = await send({ operation: 'importPhoneNumber', request: 'trunk', fields })
  compare(imported, 'importPhoneNumber 201: trunk')
  const remove = { operation: 'deleteSipConnection', values: { id: idOf(made) } }
  compare(await send(remove), 'SipConnectionConflict: numbers')
  const simulated = await examples.send(keys.test, { operation: 'createSipConnection', request: 'trunk' })
  const check = await examples.send(keys.test, { operation: 'checkSipConnection', values: { id: idOf(simulated) } })
  compare(check, 'checkSipConnection 200: answers')
  await send({ operation: 'deletePhoneNumber', values: { id: idOf(imported) } })
  t.equal((await send(remove)).status, 204)
}

/**
 * Compares responses about purchases with the contract's examples. The organization of a first local run may buy
 * numbers.
 */
async function comparePurchases(t: Test, examples: Examples, parley: TestServer): Promise<void> {
  const send = (sent: Sent) => examples.send(parley, sent)
  const compare = (received: Received, example: string) => examples.compare(t, received, { example })
  const available = await send({ operation: 'searchPhoneNumbers', parameters: ['areaCode', 'locality', 'limit'] })
  compare(available, 'searchPhoneNumbers 200: one')
  const purchase = (sent: Partial<Sent>) => send({ operation: 'purchasePhoneNumber', request: 'least', ...sent })
  const bought = await purchase({})
  compare(bought, 'purchasePhoneNumber 201: least')
  compare(await purchase({}), 'NumberPurchaseConflict: own')
  compare(await purchase({ fields: { e164: '+12125550199' } }), 'NumberPurchaseConflict: gone')
  const pending = await purchase({ request: 'pending' })
  compare(pending, 'purchasePhoneNumber 201: pending')
  const remove = (received: Received) => send({ operation: 'deletePhoneNumber', values: { id: idOf(received) } })
  compare(await remove(pending), 'NumberPurchaseConflict: pending')
  compare(await remove(bought), 'deletePhoneNumber 200: released')
  const sql = openDatabase(parley)
  await sql`update organizations set credit_micro_usd = 1999999 where name = 'local'`
  compare(await purchase({}), 'PaymentRequired: number')
  await sql`
    insert into phone_numbers (organization_id, test, id, e164, source, direction, created_at, updated_at)
    select id, false, 'pn_' || n, '+1303555' || n, 'managed', 'outbound', now(), now()
    from organizations, generate_series(1000, 1999) n where name = 'local'`
  compare(await purchase({}), 'NumberPurchaseConflict: full')
  await sql`delete from phone_numbers where id like 'pn_1___'`
  await sql`update organizations set credit_micro_usd = 1000000000000 where name = 'local'`
  await sql.end()
}
