import type { Test } from 'tap'
import { newEntry } from '../../simulator/registry-ids.ts'
import { insertNumber } from '../phone/stored-number.ts'
import type { Administration } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import type { TestServer } from '../server.ts'
import type { Examples, Sent } from './run.ts'

/**
 * Compares responses about text message registration with the contract's examples. The id of a brand decides the
 * simulated carrier's review.
 */
export async function compareSmsRegistration(
  t: Test,
  examples: Examples,
  admin: Administration,
  parley: TestServer,
): Promise<void> {
  const acme = await admin.organization('with messages')
  const sql = openDatabase(parley)
  const compare = async (sent: Sent, example: string) =>
    examples.compare(t, await examples.send(acme, sent), { example })
  const submit = { operation: 'submitSmsBrand' }
  const vetting = { operation: 'orderSmsBrandVetting', request: 'standard' }
  const submitCampaign = { operation: 'submitSmsCampaign' }
  await compare({ operation: 'getSmsRegistration' }, 'SmsForbidden: smsDisabled')
  await sql`update organizations set sms_enabled = true where id = ${acme.id}`
  await compare({ operation: 'getSmsRegistration' }, 'getSmsRegistration 200: none')
  await compare(submit, 'SmsBadRequest: smsBrandProfile')
  await compare(vetting, 'SmsBadRequest: smsBrandRequired')
  await compare(submitCampaign, 'SmsBadRequest: smsCampaignProfile')
  await compare({ operation: 'saveSmsCampaign', request: 'reminders' }, 'saveSmsCampaign 200: reminders')
  await compare(submitCampaign, 'SmsBadRequest: smsBrandNotReady')
  await compare({ operation: 'saveSmsBrand', request: 'business' }, 'saveSmsBrand 200: business')
  await compare(submit, 'submitSmsBrand 200: pending')
  await sql`update sms_registrations set claimed_until = now() + interval '1 minute' where organization_id = ${acme.id}`
  await compare(submit, 'SmsUnavailable: smsUnderWay')
  const { id: brandId } = newEntry('brand', ['verified'], 'verified', Date.now() - 60_000)
  await sql`
    update sms_registrations set claimed_until = null, brand_carrier_id = ${brandId} where organization_id = ${acme.id}`
  await compare(submit, 'submitSmsBrand 200: verified')
  await compare(vetting, 'orderSmsBrandVetting 200: standard')
  await compareNumbers(t, examples, acme, sql)
  await compare(submitCampaign, 'submitSmsCampaign 200: pending')
  await sql`
    insert into sms_campaigns (organization_id, test, id, status, review_errors, submitted_at)
    select ${acme.id}, false, 'c' || n, 'expired', '[]', now() from generate_series(1, 100) n`
  await compare(submitCampaign, 'SmsCampaignSubmitConflict: smsCampaigns')
  await sql.end()
}

type Organization = Awaited<ReturnType<Administration['organization']>>

async function compareNumbers(
  t: Test,
  examples: Examples,
  acme: Organization,
  sql: ReturnType<typeof openDatabase>,
): Promise<void> {
  const e164 = '+12125550101'
  const phoneNumberId = await insertNumber(sql, { organizationId: acme.id, test: false }, { e164 })
  const assign = { operation: 'assignSmsNumber', request: 'own' }
  const compare = async (sent: Partial<Sent>, example: string, of: Sent = assign) =>
    examples.compare(t, await examples.send(acme, { values: { phoneNumberId }, ...of, ...sent }), { example })
  await compare({ values: { phoneNumberId: 'nobody' } }, 'SmsNumberNotFound: smsNumber')
  await compare({}, 'SmsBadRequest: smsUnsupported')
  await sql`update phone_numbers set takes_sms = true where id = ${phoneNumberId}`
  await compare({}, 'SmsCampaignConflict: smsOwn')
  await compare({ request: 'shared' }, 'SmsCampaignConflict: smsShared')
  await compare({ fields: { target: undefined } }, 'SmsCampaignConflict: smsNeither')
  const insert = (id: string) => sql`
    insert into sms_campaigns (organization_id, test, id, status, review_errors, submitted_at)
    values (${acme.id}, false, ${id}, 'active', '[]', now())`
  await insert(newEntry('campaign', ['provisioned'], 'provisioned', Date.now() - 100_000).id)
  await sql`update phone_numbers set e164 = '+12125550194' where id = ${phoneNumberId}`
  await compare({}, 'SmsCarrierFailed: smsAssignment')
  await sql`update phone_numbers set e164 = ${e164} where id = ${phoneNumberId}`
  await compare({}, 'assignSmsNumber 200: pending')
  await compare({}, 'unassignSmsNumber 200: pending', { operation: 'unassignSmsNumber' })
  // The number is deleted here, because other examples buy it again.
  await sql`delete from phone_numbers where id = ${phoneNumberId}`
}
