/** `parley org disable --now` ends live calls and sessions. */
import t from 'tap'
import { runCommand } from '../command.ts'
import { eventsOf, hasEnded } from '../phone/call-rows.ts'
import { callWhen, startPhones } from '../phone/phones.ts'
import { call } from '../platform/setup.ts'
import { openDatabase } from '../process/database.ts'
import { passing } from '../router/requests.ts'
import { Page, type Started } from '../session/voice-session.ts'

const phones = await startPhones()
t.teardown(() => phones.close())
const { clock, agentId } = phones
const org = (...args: string[]) => passing(phones, runCommand(phones.server, ['org', ...args]))

async function startCall(): Promise<string> {
  const answer = await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550011', agentId })
  const { sessionId } = answer.json<{ sessionId: string }>()
  await callWhen(phones, sessionId, ({ status }) => status === 'in_progress')
  return sessionId
}

async function join(): Promise<Page> {
  const page = new Page((await call(phones, 'POST', '/v1/sessions', { agentId })).json<Started>(), {}, clock)
  await page.first('ready')
  return page
}

const enabled = async () => {
  t.equal((await org('enable', 'local')).code, 0)
  await clock.until(
    'the process knows of it',
    async () => (await call(phones, 'GET', '/v1/organization')).status === 200,
  )
}

t.test('`org disable --now` ends phone calls and sessions, and their records have the reason', async (t) => {
  const ids = [await startCall(), (await join()).id]
  const disabled = await org('disable', 'local', '--now')
  t.match(disabled, { code: 0, stdout: /disabled.*\n2 calls were ended\n$/ })
  await enabled()
  for (const id of ids) {
    t.match(await callWhen(phones, id, hasEnded), { status: 'completed', end_reason: 'api_ended' })
    const end = (await eventsOf(phones, id)).find(({ event_type }) => event_type === 'call.completed')
    t.match(end?.payload, { end_reason: 'api_ended', reason: 'The operator has disabled the organization.' })
  }
  t.match(JSON.parse((await org('disable', 'local', '--now', '--json')).stdout), { disabled: true, endedCalls: 0 })
  await enabled()
})

t.test("`org disable` without --now closes a session's socket, but does not end a phone call", async (t) => {
  const [id, page] = [await startCall(), await join()]
  t.equal((await org('disable', 'local')).code, 0)
  await clock.until('the socket is closed', () => page.closed === 4401)
  await enabled()
  t.match((await call(phones, 'GET', `/v1/calls/${id}`)).json(), { status: 'in_progress' })
  t.match(await callWhen(phones, page.id, hasEnded), { end_reason: 'user_disconnected' })
  await call(phones, 'POST', `/v1/calls/${id}/end`)
  t.match(await callWhen(phones, id, hasEnded), { end_reason: 'api_ended' })
})

t.test('a call that is admitted while its organization is being disabled is never dialed', async (t) => {
  const sql = openDatabase(phones.server)
  t.teardown(() => sql.end())
  await sql.unsafe(`
    create function disable_organization() returns trigger language plpgsql
      as $$ begin update organizations set is_disabled = true where id = new.organization_id; return new; end $$;
    create trigger disables before insert on calls for each row execute function disable_organization()`)
  const answer = await call(phones, 'POST', '/v1/sessions/phone', { to: '+15005550011', agentId })
  await sql`drop trigger disables on calls`
  await enabled()
  const { sessionId } = answer.json<{ sessionId: string }>()
  const ended = await callWhen(phones, sessionId, hasEnded)
  t.match(ended, { end_reason: 'api_ended' })
  const events = await eventsOf(phones, sessionId)
  t.ok(events.some(({ payload }) => payload['reason'] === 'The operator has disabled the organization.'))
  t.notOk(events.some(({ event_type }) => event_type === 'call.dialing'))
})
