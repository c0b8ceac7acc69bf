/**
 * Tests people who join a live call over real sockets and in real time, also through another process on the machine.
 */
import t from 'tap'
import { likenessOfPieces } from '../audio/likeness.ts'
import { voicesOf } from '../session/recorded-call.ts'
import { call, Page, rateHz } from '../session/voice-session.ts'
import { speechAt } from '../speech/samples.ts'
import { TestCluster } from '../store/cluster.ts'
import { until } from './machine.ts'
import { pair } from './pair.ts'
import type { Running } from './parley.ts'

const cluster = await TestCluster.start()
t.teardown(() => cluster.stop())

type Joined = { token: string; url: string; identity: string; roomName: string; expiresAt: string }

async function invited(server: Running, id: string, body: object = {}): Promise<Joined> {
  const { status, json } = await call(server, `/v1/calls/${id}/web-join`, body)
  if (status !== 200) throw new Error(`web-join was answered ${status}: ${JSON.stringify(json)}`)
  return json as Joined
}

const pageOf = (id: string, { url, token }: Joined) =>
  new Page({ sessionId: id, transportUrl: url, transportToken: token })

async function joined(server: Running, id: string, body: object = {}): Promise<Page> {
  const page = pageOf(id, await invited(server, id, body))
  await page.first('ready')
  return page
}

// The recorded voices contain no question, so the agent answers only typed messages.
const quiet = {
  ttsOptions: { sampleRate: rateHz },
  turnHandling: { endpointing: { minDelay: 5000, maxDelay: 15_000 }, interruption: { mode: 'none' } },
}

t.test('webJoinCall: the person who joins and the caller receive each other, and both are recorded', async (t) => {
  const [owner, other] = await pair(t, cluster)
  const caller = await Page.join(owner, { ...quiet, recording: true })
  await caller.ask('before')
  const invitation = await invited(other, caller.id, { displayName: 'Maria' })
  t.match(invitation, { identity: /^join_[\da-f-]{36}$/, roomName: `room-${caller.id}`, transport: 'websocket' })
  const leftMs = Date.parse(invitation.expiresAt) - Date.now()
  t.ok(leftMs > 50_000 && leftMs <= 60_000)
  t.equal(
    new URL(invitation.url).host,
    new URL(other.url).host,
    'the page reaches the process that was asked, which relays it',
  )
  const maria = pageOf(caller.id, invitation)
  t.match(await maria.first('ready'), { identity: invitation.identity, resumed: false, sampleRate: rateHz })
  await caller.ask('who only listens does not silence the agent')
  const [callersVoice, mariasVoice] = [await speechAt('tt-weasels', rateHz), await speechAt('privacy-prompt', rateHz)]
  await maria.say(mariasVoice)
  await caller.say(callersVoice)
  const receives = (page: Page, voice: Int16Array) => likenessOfPieces(voice, page.audio(), rateHz) > 0.9
  await until('the caller receives Maria', () => receives(caller, mariasVoice))
  await until('Maria receives the caller', () => receives(maria, callersVoice))
  caller.send({ type: 'user_message', text: 'is the agent there?' })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  t.notOk(
    caller.all('agent_message').some(({ text }) => text === 'is the agent there?'),
    'the agent is silent',
  )
  maria.send({ type: 'end' })
  t.match(await maria.first('end'), { reason: 'user_hangup' })
  await until('the socket of Maria has closed', () => maria.closed === 1000)
  await caller.ask('and now?')
  caller.send({ type: 'end' })
  await caller.first('end')
  const whole = async () => (await call(other, `/v1/calls/${caller.id}`)).json
  await until('it is recorded', async () => (await whole())['recording_status'] === 'ready')
  const recorded = await voicesOf(other, caller.id)
  for (const [what, value] of [
    ['the caller is on the left', likenessOfPieces(callersVoice, recorded.caller, rateHz)],
    ['Maria is on the right', likenessOfPieces(mariasVoice, recorded.agent, rateHz)],
  ] as const)
    t.ok(value > 0.9, `${what}: ${value.toFixed(3)}`)
  const { events } = (await call(other, `/v1/calls/${caller.id}/events`)).json as {
    events: { event_type: string; payload: object }[]
  }
  const ofMaria = events.filter(({ payload }) => 'identity' in payload && payload.identity === invitation.identity)
  t.same(
    ofMaria.map(({ event_type }) => event_type),
    ['room.participant_joined', 'room.participant_left'],
  )
  const { entries } = (await call(other, `/v1/sessions/${caller.id}/transcript`)).json as {
    entries: { source: string; text: string; metadata: object }[]
  }
  t.match(
    entries.filter(({ source }) => source === 'system').map(({ text }) => text),
    ['Maria has joined.', 'Maria has left.'],
  )
  const human = { identity: invitation.identity, displayName: 'Maria', human: true }
  t.ok(
    entries.some(({ source, metadata }) => source === 'agent' && 'human' in metadata),
    'what she said is in the transcript',
  )
  t.match(entries.find(({ metadata }) => 'human' in metadata)?.metadata, human)
})

t.test('webJoinCall: at most four people join at once, and only while the call is live', async (t) => {
  const [owner, other] = await pair(t, cluster)
  const caller = await Page.join(owner)
  const invitations = []
  for (let count = 0; count < 5; count++) invitations.push(await invited(count % 2 ? other : owner, caller.id))
  const pages = invitations.map((invitation) => pageOf(caller.id, invitation))
  const isReady = (page: Page) => page.all('ready').length === 1
  await until('four have joined', () => pages.filter(isReady).length === 4)
  await until('the fifth is refused', () => pages.some((page) => page.closed !== null && !isReady(page)))
  for (const server of [owner, other])
    t.match(await call(server, `/v1/calls/${caller.id}/web-join`, {}), {
      status: 429,
      json: { code: 'CONCURRENCY_EXHAUSTED' },
    })
  const [first] = pages.filter(({ closed }) => closed === null) as [Page]
  first.send({ type: 'end' })
  await first.first('end')
  const late = await joined(other, caller.id)
  caller.send({ type: 'end' })
  t.match(await late.first('end'), { reason: 'user_hangup' })
  await until('all have closed', () => pages.every(({ closed }) => closed !== null))
  const refusal = { status: 409, json: { code: 'CALL_NOT_LIVE' } }
  await until(
    'the call has ended',
    async () => typeof (await call(owner, `/v1/calls/${caller.id}`)).json['ended_at'] === 'string',
  )
  for (const server of [owner, other]) t.match(await call(server, `/v1/calls/${caller.id}/web-join`, {}), refusal)
  const expired = pageOf(caller.id, invitations[4] as Joined)
  await until('its token opens nothing any more', () => expired.closed !== null)
  for (const body of [{ displayName: '' }, { displayName: 'x'.repeat(129) }, { name: 'x' }])
    t.match(await call(owner, `/v1/calls/${caller.id}/web-join`, body), {
      status: 400,
      json: { code: 'VALIDATION_ERROR' },
    })
  t.match(await call(owner, '/v1/calls/nothing/web-join', {}), { status: 404, json: { code: 'NOT_FOUND' } })
})
