import type { Test } from 'tap'
import { insertNumber } from '../phone/stored-number.ts'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { Running } from '../process/parley.ts'
import type { Examples, Received, Sent } from './run.ts'

type Server = { parley: Running; admin: Administration }

/** The examples of the operations on phone numbers. */
export async function comparePhoneNumbers(t: Test, examples: Examples, { parley, admin }: Server): Promise<void> {
  const acme = await admin.organization('with phone numbers')
  const send = (sent: Sent) => examples.send(acme, sent)
  const compare = (received: Received, example: string) =>
    examples.compare(t, received, { example, renamed: { '+15005550150': '+15005550100' } })
  compare(await send({ operation: 'listPhoneNumbers' }), 'listPhoneNumbers 200: none')
  const sql = openDatabase(parley.dataDir)
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
}
