/**
 * `make demo-messages`: a business registers for text messages in the USA, and its number is assigned. Then an agent
 * sends rich messages from this number, one falls back to SMS, and a reply comes. The reviews follow the simulated
 * carrier's clock, which the demo moves forward. It needs no account and no network.
 */
import '../no-time-limit.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { brandProfile, campaignProfile } from '../carrier/sms-profiles.ts'
import { call } from '../platform/setup.ts'
import { runParley } from '../process/command.ts'
import { type Running, startParley } from '../process/parley.ts'
import { type Received, type Receiver, startReceiver } from '../webhooks/receiver.ts'

type Registration = {
  ownBrand: { status: string }
  ownCampaign: { status: string; campaignId: string }
  numbers: { id: string; smsAssignmentStatus: string | null }[]
  smsReady: boolean
}
type RmsgEvent = { id: string; event_type: string; data: { message: Record<'service' | 'status', string> } }
type Delivery = { eventId: string; event: string; status: string; attempts: number; endpointName: string }

const registry = '/v1/sms/10dlc'
const e164 = '+12125550142'
const waitMs = 30_000
/**
 * The first message has two events at both subscriptions, and the second message has four events at one subscription.
 */
const deliveriesCount = 8
/** Review times at the simulated carrier (docs/simulator.md). */
const reviewMs = { brand: 5_000, campaign: 60_000, number: 2_000 }

// The guard for outbound requests refuses local IP addresses, so the demo allows them.
const parley = await startParley({ PARLEY_OUTBOUND_ALLOWED_SUBNETS: '127.0.0.0/8' })
const [tagged, all] = [await startReceiver(), await startReceiver()]
try {
  await demo(parley)
} finally {
  await Promise.all([tagged.close(), all.close()])
  await parley.remove()
}

async function demo(target: Running): Promise<void> {
  say(`Parley runs at ${target.url}.\n`)
  await registerBrand(target)
  await registerCampaign(target)
  const phoneNumberId = await assignNumber(target)
  await sendMessages(target, phoneNumberId)
  say('5. The log of deliveries')
  const deliveries = await until('the log', async () => {
    const { data } = await asked<{ data: Delivery[] }>(target, 'GET', '/v1/webhook-deliveries')
    return data.filter(({ status }) => status === 'succeeded').length >= deliveriesCount ? data : null
  })
  for (const { event, status, attempts, endpointName, eventId } of deliveries)
    say(`   ${event.padEnd(24)} ${status.padEnd(10)} ${attempts} attempt  ${endpointName}  ${eventId}`)
}

async function registerBrand(target: Running): Promise<void> {
  await asked(target, 'PUT', `${registry}/brand`, brandProfile)
  const first = await asked<Registration>(target, 'POST', `${registry}/brand/submit`)
  say(`1. The brand is submitted: ${first.ownBrand.status}`)
  await advance(target, 'brand')
  say(`   After its review: ${(await refreshed(target)).ownBrand.status}`)
}

async function registerCampaign(target: Running): Promise<void> {
  await asked(target, 'PUT', `${registry}/campaign`, campaignProfile)
  const { ownCampaign } = await asked<Registration>(target, 'POST', `${registry}/campaign/submit`)
  say(`2. The campaign is submitted: ${ownCampaign.status}`)
  await advance(target, 'campaign')
  say(`   After its review: ${(await refreshed(target)).ownCampaign.status}`)
}

/**
 * Buys the number, adds it to the organization's pool of rich-message numbers, and assigns it to the campaign. Returns
 * the id of the rich-message number.
 */
async function assignNumber(target: Running): Promise<string> {
  const { id } = await asked<{ id: string }>(target, 'POST', '/v1/phone-numbers', { e164 })
  const rich = await asOperator<{ id: string }>(target, 'add', e164, '--identity', 'shop')
  await asOperator(target, 'assign', e164, '--org', 'local')
  say(`3. ${e164} is bought, and takes rich messages. Falls back to SMS: ${await fallsBack(target)}`)
  const assigned = await asked<{ smsAssignmentStatus: string }>(target, 'POST', `${registry}/numbers/${id}/assign`)
  say(`   It is assigned to the campaign: ${assigned.smsAssignmentStatus}`)
  await advance(target, 'number')
  const { numbers, smsReady } = await refreshed(target)
  const status = numbers.find((number) => number.id === id)?.smsAssignmentStatus
  say(`   After that: ${status}, smsReady ${smsReady}. Falls back to SMS: ${await fallsBack(target)}`)
  return rich.id
}

async function fallsBack(target: Running): Promise<boolean | undefined> {
  type Number = { phoneNumber: string; capabilities: { smsFallback: boolean } }
  const listed = await asked<Number[]>(target, 'GET', '/v1/rmsg-phone-numbers')
  return listed.find(({ phoneNumber }) => phoneNumber === e164)?.capabilities.smsFallback
}

async function sendMessages(target: Running, phoneNumberId: string): Promise<void> {
  const agent = { name: 'Shop', systemPrompt: 'Be brief.', intent: { language: 'en-US' } }
  const rmsg = { enabled: true, mode: 'dedicated', phoneNumberId }
  const { id } = await asked<{ id: string }>(target, 'POST', '/v1/agents', { ...agent, rmsg })
  await asked(target, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: tagged.url, tags: { team: 'shop' } })
  await asked(target, 'PUT', '/v1/rmsg-phone-numbers/webhook', { url: all.url })
  const send = (to: string, text: string, tags: object) =>
    asked<{ messageId: string; status: string }>(target, 'POST', `/v1/rmsg/${id}/messages`, { to, text, tags })
  const message = await send('+15005550031', 'Your bicycle is ready.', { team: 'shop' })
  say(`4. A message to a phone without rich messages: ${message.messageId}, ${message.status}`)
  await until('the events of the message', () => eventsAt(tagged).length >= 2 || null)
  say('   The subscription with the tag team: shop got')
  print(eventsAt(tagged))
  await send('+15005550038', 'Shall we keep it until Monday?', {})
  await until('the reply', () => eventsAt(all).length >= 6 || null)
  say('   A message to a person who replies. The subscription without tags got')
  print(eventsAt(all))
}

/** Moves the simulated carrier's clock past a review. */
async function advance(target: Running, review: keyof typeof reviewMs): Promise<void> {
  const advanceMs = reviewMs[review]
  await asked(target, 'POST', '/simulator/clock', { advanceMs })
  say(`   The clock of the simulated carrier is moved ${advanceMs / 1000} s.`)
}

/** Submits the brand again, which also reads all statuses from the carrier. */
async function refreshed(target: Running): Promise<Registration> {
  await asked(target, 'POST', `${registry}/brand/submit`)
  return asked<Registration>(target, 'GET', registry)
}

async function asked<Body>(target: Running, method: string, path: string, body?: object): Promise<Body> {
  const answer = await call(target, method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.json<Body>()
}

/** Runs `parley rmsg`. */
async function asOperator<Row>({ dataDir }: Running, ...args: string[]): Promise<Row> {
  const { code, stdout, stderr } = await runParley(['rmsg', ...args, '--json'], { dataDir })
  if (code !== 0) throw new Error(`parley rmsg ${args.join(' ')}: ${stderr}`)
  return JSON.parse(stdout) as Row
}

/** Calls `look` until it returns a result, and returns this result. */
async function until<Found>(what: string, look: () => Found | null | Promise<Found | null>): Promise<Found> {
  for (const endMs = Date.now() + waitMs; Date.now() < endMs; await sleep(50)) {
    const found = await look()
    if (found !== null) return found
  }
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
