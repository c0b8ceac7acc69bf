/**
 * Tests with random organizations and subscriptions which subscriptions receive an event: exactly the matching
 * subscriptions in the event's organization.
 */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { RichEventType } from '../../domain/ports/rich-messages.ts'
import type { Tenant } from '../../domain/records/organization.ts'
import { conversationIdOf } from '../../domain/records/rmsg-message.ts'
import { createReceiveEvent } from '../../domain/rmsg/events.ts'
import { createDeadlines } from '../../runtime/outbound/deadlines.ts'
import { systemClock } from '../../runtime/timing/clock.ts'
import { startOwnAdministered } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { fc } from '../random.ts'
import { insertRmsgNumber } from './stored-number.ts'

const { parley, admin } = await startOwnAdministered(t, { PARLEY_MASTER_KEY: 'm'.repeat(32) })
const sql = openDatabase(parley)
t.teardown(() => sql.end())
const { rmsgEvents, rmsgMessages, rmsgSubscriptions, webhookSecrets, organizations } = admin.store

type Place = { tenant: Tenant; numberId: string; e164: string }
const places: Place[] = []
const ids: string[] = []
for (const name of ['first', 'second', 'admin']) {
  const { id: organizationId } = await admin.organization(name)
  ids.push(organizationId)
  for (const test of [false, true]) {
    const e164 = `+1500555030${places.length}`
    const numberId = await insertRmsgNumber(sql, { e164, organizationId, test })
    places.push({ tenant: { organizationId, test }, numberId, e164 })
  }
}
await organizations.change(ids[2] ?? '', { adminOrganization: true })
/** This number is in no organization's pool. */
const unpooled = '+15005550310'
const unpooledId = await insertRmsgNumber(sql, { e164: unpooled })

const posted: string[] = []
const receive = createReceiveEvent({
  client: {
    post({ url }) {
      posted.push(url)
      return Promise.resolve({ status: 204, body: new Uint8Array(), isCut: false })
    },
  },
  clock: systemClock,
  deadline: createDeadlines(systemClock),
  attemptId: randomUUID,
  events: rmsgEvents,
  subscriptions: rmsgSubscriptions,
  secrets: webhookSecrets,
  headerWord: 'service',
})

type Tags = Record<string, string>
const word = fc.constantFrom('a', 'A', 'b', '__proto__')
const tagsOf = fc.array(fc.tuple(word, word), { maxLength: 3 }).map((pairs): Tags => Object.fromEntries(pairs))
const subscriptionsOf = fc.array(tagsOf, { maxLength: 4 })
const types = [
  'rmsg.sent',
  'rmsg.delivered',
  'rmsg.delivery_failed',
  'rmsg.reaction_received',
  'rmsg.received',
] as const

const urlOf = ({ organizationId, test }: Tenant, at: number) => `https://${organizationId}.example/${test}/${at}`

async function subscribe({ tenant }: Place, all: readonly Tags[]): Promise<void> {
  await rmsgSubscriptions.removeAll(tenant)
  for (const [at, tags] of all.entries()) {
    const wanted = { ...tenant, id: randomUUID(), url: urlOf(tenant, at), tags, updatedAtMs: Date.now() }
    await rmsgSubscriptions.put(wanted, () => null, 20)
  }
}

type Occurrence = { sender: Tenant; numberId: string; e164: string; type: RichEventType; tags: Tags }

/** Sends the event. Returns the receiving subscriptions' URLs, in order. */
async function receiversOf({ sender, numberId, e164, type, tags }: Occurrence): Promise<string[]> {
  const to = '+15005550030'
  const conversationId = conversationIdOf(numberId, to)
  const message = { ...sender, id: randomUUID(), phoneNumberId: numberId, conversationId, to, tags }
  await rmsgMessages.insert({ ...message, status: 'queued', channel: null, createdAtMs: Date.now() }, 'Ready.')
  const status = type === 'rmsg.sent' ? 'sent' : type === 'rmsg.delivered' ? 'delivered' : 'error'
  const isReport = type !== 'rmsg.received' && type !== 'rmsg.reaction_received'
  posted.length = 0
  const event = {
    id: `evt_${randomUUID()}`,
    type,
    occurredAtMs: Date.now(),
    providerIdentity: `identity-${e164}`,
    conversationId,
    remoteNumber: to,
    messageId: type === 'rmsg.received' ? randomUUID() : message.id,
    report: isReport ? ({ status, service: 'rmsg' } as const) : null,
    receivedOver: type === 'rmsg.received' ? ('rmsg' as const) : null,
    text: null,
    bytesFor: () => Buffer.from('{}'),
  }
  if ((await receive(event)) !== 'taken') throw new Error('the event is not taken')
  return [...posted].sort()
}

/** Computes the expected URLs by an independent form of the rule: the message has every tag in the subscription. */
function expected(tenant: Tenant, all: readonly Tags[], type: RichEventType, tags: Tags): string[] {
  const pairs = new Set(type === 'rmsg.received' ? [] : Object.entries(tags).map((pair) => JSON.stringify(pair)))
  return all
    .flatMap((wanted, at) =>
      Object.entries(wanted).every((pair) => pairs.has(JSON.stringify(pair))) ? [urlOf(tenant, at)] : [],
    )
    .sort()
}

t.test('an event reaches only matching subscriptions of its organization, live or test', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(subscriptionsOf, { minLength: places.length, maxLength: places.length }),
      fc.array(fc.tuple(fc.nat(places.length - 1), fc.constantFrom(...types), tagsOf), { minLength: 4, maxLength: 4 }),
      async (subscriptions, occurrences) => {
        for (const [at, place] of places.entries()) await subscribe(place, subscriptions[at] ?? [])
        for (const [at, type, tags] of occurrences) {
          const { tenant, ...place } = places[at] as Place
          const got = await receiversOf({ sender: tenant, ...place, type, tags })
          const wanted = expected(tenant, subscriptions[at] ?? [], type, tags)
          if (got.join() !== wanted.join()) throw new Error(`${type}: ${got.join()} instead of ${wanted.join()}`)
        }
      },
    ),
    { numRuns: 25 },
  )
})

t.test("an event for a number in no pool goes to its last sending organization, else to the admin's", async (t) => {
  for (const place of places) await subscribe(place, [{}])
  const [first, , second, , administrator] = places as [Place, Place, Place, Place, Place, Place]
  const received = {
    id: `evt_${randomUUID()}`,
    type: 'rmsg.received',
    occurredAtMs: Date.now(),
    providerIdentity: `identity-${unpooled}`,
    conversationId: randomUUID(),
    messageId: randomUUID(),
    remoteNumber: '+15005550031',
    report: null,
    receivedOver: 'rmsg' as const,
    text: null,
    bytesFor: () => Buffer.from('{}'),
  } as const
  posted.length = 0
  t.equal(await receive(received), 'taken')
  t.same(posted, [urlOf(administrator.tenant, 0)], 'nobody has sent')
  for (const { tenant } of [first, second, first]) {
    const place = { numberId: unpooledId, e164: unpooled }
    const got = await receiversOf({ sender: tenant, ...place, type: 'rmsg.received', tags: {} })
    t.same(got, [urlOf(tenant, 0)])
  }
})
