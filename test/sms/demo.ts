/**
 * `make demo-messages`: a business registers for text messages in the USA, and a number of it is assigned; meanwhile an agent
 * sends rich messages, one of which falls back to SMS, and gets a reply. The simulated carrier takes 67 s for its
 * reviews. No account and no network.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { call } from '../platform/setup.ts'
import { startParley, testKey } from '../process/parley.ts'
import type { Target } from '../router/requests.ts'
import { type Received, type Receiver, startReceiver } from '../webhooks/receiver.ts'

type Registration = {
  ownBrand: { status: string }
  ownCampaign: { status: string; campaignId: string }
  numbers: { id: string; e164: string; smsAssignmentStatus: string | null }[]
  smsReady: boolean
}
type RmsgEvent = { id: string; event_type: string; data: { message: Record<'service' | 'status', string> } }
type Delivery = { eventId: string; event: string; status: string; attempts: number; endpointName: string }

const registry = '/v1/sms/10dlc'
const lookMs = 1_000
const waitMs = 120_000

// The guard refuses addresses of this machine, so the demo opens them.
const parley = await startParley({ PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })
const [tagged, all] = [await startReceiver(), await startReceiver()]
try {
  await demo({ url: parley.url, key: testKey })
} finally {
  await Promise.all([tagged.close(), all.close()])
  await parley.remove()
}

async function demo(target: Target): Promise<void> {
  say(`Parley runs at ${target.url}.\n`)
  await registerBrand(target)
  await asked(target, 'PUT', `${registry}/campaign`, campaignProfile)
  const submitted = await asked<Registration>(target, 'POST', `${registry}/campaign/submit`)
  say(
    `2. The campaign is submitted: ${submitted.ownCampaign.campaignId}. Its review takes 60 s here, and days elsewhere.`,
  )
  await sendMessages(target)
  await assignNumber(target)
  say('5. The log of deliveries')
  const { data } = await asked<{ data: Delivery[] }>(target, 'GET', '/v1/webhook-deliveries')
  for (const { event, status, attempts, endpointName, eventId } of data)
    say(`   ${event.padEnd(24)} ${status.padEnd(10)} ${attempts} attempt  ${endpointName}  ${eventId}`)
}

async function registerBrand(target: Target): Promise<void> {
  await asked(target, 'PUT', `${registry}/brand`, brandProfile)
  const first = await asked<Registration>(target, 'POST', `${registry}/brand/submit`)
  say(`1. The brand is submitted: ${first.ownBrand.status}`)
  const { ownBrand } = await refreshed(target, ({ ownBrand }) => ownBrand.status === 'verified')
  say(`   After its review: ${ownBrand.status}`)
}

async function sendMessages(target: Target): Promise<void> {
  const agent = { name: 'Shop', systemPrompt: 'Be brief.', intent: { language: 'en-US' } }
  const rmsg = { enabled: true, mode: 'dedicated' }
  const { id } = await asked<{ id: string }>(target, 'POST', '/v1/agents', { ...agent, rmsg })
  await asked(target, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: tagged.url, tags: { team: 'shop' } })
  await asked(target, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: all.url })
  const send = (to: string, text: string, tags: object) =>
    asked<{ messageId: string; status: string }>(target, 'POST', `/v1/rmsg/${id}/messages`, { to, text, tags })
  const message = await send('+15005550031', 'Your bicycle is ready.', { team: 'shop' })
  say(`3. A message to a phone without rich messages: ${message.messageId}, ${message.status}`)
  await until('the events of the message', () => eventsAt(tagged).length >= 2)
  say('   The subscription with the tag team: shop got')
  print(eventsAt(tagged))
  await send('+15005550038', 'Shall we keep it until Monday?', {})
  await until('the reply', () => eventsAt(all).some(({ event_type }) => event_type === 'rmsg.reaction_received'))
  say('   A message to a person who replies. The subscription without tags got')
  print(eventsAt(all))
}

async function assignNumber(target: Target): Promise<void> {
  await refreshed(target, ({ ownCampaign }) => ownCampaign.status === 'active')
  const number = await asked<{ id: string; e164: string }>(target, 'POST', '/v1/phone-numbers', {
    e164: '+12125550142',
  })
  await asked(target, 'POST', `${registry}/numbers/${number.id}/assign`)
  const { numbers } = await refreshed(target, ({ smsReady }) => smsReady)
  const status = numbers.find(({ id }) => id === number.id)?.smsAssignmentStatus
  say(`4. The campaign is active, and ${number.e164} is ${status}: smsReady is true.`)
}

/** The registration as soon as `isDone` holds. Submitting the brand again reads all statuses. */
async function refreshed(target: Target, isDone: (registration: Registration) => boolean): Promise<Registration> {
  for (const endMs = Date.now() + waitMs; Date.now() < endMs; await sleep(lookMs)) {
    await asked(target, 'POST', `${registry}/brand/submit`)
    const registration = await asked<Registration>(target, 'GET', registry)
    if (isDone(registration)) return registration
  }
  throw new Error('the registration has not come so far')
}

async function asked<Body>(target: Target, method: string, path: string, body?: object): Promise<Body> {
  const answer = await call(target, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.json<Body>()
}

async function until(what: string, isDone: () => boolean): Promise<void> {
  for (const endMs = Date.now() + waitMs; Date.now() < endMs; await sleep(100)) if (isDone()) return
  throw new Error(`${what} did not come`)
}

function eventsAt({ received }: Receiver): RmsgEvent[] {
  return received.map(({ body }: Received) => JSON.parse(body.toString()) as RmsgEvent)
}

function print(events: RmsgEvent[]): void {
  for (const { event_type, data } of events)
    say(`     ${event_type.padEnd(24)} ${data.message.service.padEnd(5)} ${data.message.status}`)
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
