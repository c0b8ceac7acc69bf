/** Runs a program that uses an SDK of the hosted product against a server with the setting `clients: family`. */
import type { Tenant } from '../../../domain/records/organization.ts'
import { callbackOf, hourMs, promised } from '../../callbacks/callback.ts'
import { type Administration, call, openAdministration } from '../../platform/setup.ts'
import type { Target } from '../../router/requests.ts'
import type { Settings, TestServer } from '../../server.ts'
import { startEventReceiver } from '../event-receiver.ts'
import { type Outcomes, startSetup } from '../setup.ts'

type Test = { teardown(run: () => Promise<unknown> | void): void }

/** Starts a server and runs the program to its end. `more` is added to its environment. */
export async function runWithFamily(t: Test, command: string, args: string[], more: Settings = {}): Promise<Outcomes> {
  const receiver = await startEventReceiver()
  t.teardown(() => receiver.close())
  const setup = await startSetup(t, ['stub'], {
    PARLEY_CLIENTS: 'family',
    PARLEY_KYB_REVIEW: 'operator',
    PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8',
  })
  const outside = await thingsOutsideTheSdk(setup.parley)
  return setup.run(command, args, { PARLEY_RECEIVER: receiver.url, ...outside, ...more })
}

/**
 * Makes an organization whose business is not verified, then a SIP connection and two promised callbacks. The SDKs have
 * no methods to make these.
 */
async function thingsOutsideTheSdk(parley: TestServer) {
  const admin = await openAdministration(parley)
  const applicant = await admin.organization('applicant')
  const trunk = { name: 'desk', outbound: { host: 'sip.example' } }
  const connection = await call(parley, 'POST', '/v1/phone-numbers/sip-connections', trunk)
  const organization = await call(parley, 'GET', '/v1/organization')
  const tenant = { organizationId: organization.json<{ id: string }>().id, test: false }
  const [toCancel, toMake] = [await promise(parley, admin, tenant), await promise(parley, admin, tenant)]
  await admin.close()
  return {
    PARLEY_APPLICANT_KEY: applicant.key,
    PARLEY_CONNECTION: connection.json<{ id: string }>().id,
    PARLEY_CALLBACK_TO_CANCEL: toCancel,
    PARLEY_CALLBACK_TO_MAKE: toMake,
  }
}

/** Promises a callback in a new session, and returns its id. */
async function promise(parley: Target, admin: Administration, tenant: Tenant): Promise<string> {
  const session = await call(parley, 'POST', '/v1/sessions', { intent: { language: 'en' } })
  const source = await admin.store.calls.find(tenant, session.json<{ sessionId: string }>().sessionId)
  if (source === null) throw new Error('no session')
  const callback = callbackOf(source, { toNumber: '+15005550011', nextTryAtMs: Date.now() + hourMs })
  const refused = await admin.store.calls.append(tenant, source.id, [promised(callback)])
  if (refused.length > 0) throw new Error('the callback was not stored')
  return callback.id
}
