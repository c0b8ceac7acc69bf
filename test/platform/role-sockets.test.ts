/** Sockets obey the current role of their user: a token opens nothing that its user may not open now. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { WebSocket } from 'ws'
import type { Role } from '../../domain/records/organization.ts'
import { postJson, type Target } from '../router/requests.ts'
import { loopbackProviders } from '../session/voice-session.ts'
import { startAdministered } from './setup.ts'

const { parley, admin } = await startAdministered(t, { PARLEY_PROVIDERS: loopbackProviders })
const { id } = await admin.organization('sockets of users')
const email = 'sam@example.com'

/** Gives the user the role, and returns a new token for the user. */
async function signedIn(role: Role): Promise<Target> {
  await admin.store.users.create(id, email, role)
  const issued = await admin.store.users.issue(id, email, 'user_token')
  return { url: parley.url, key: issued?.secret ?? '' }
}

/** Resolves with 101 if the socket opens, else with the refusal's status and text. */
async function opening(address: string, protocols: string[], headers: Record<string, string> = {}) {
  const socket = new WebSocket(address, protocols, { headers })
  const opened = once(socket, 'open').then(() => 'opened' as const)
  const refused = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>
  const first = await Promise.race([opened, refused])
  if (first === 'opened') {
    socket.terminate()
    return { status: 101, text: '' }
  }
  let text = ''
  for await (const chunk of first[1]) text += String(chunk)
  return { status: first[1].statusCode ?? 0, text }
}

const refused = { status: 403, text: /This needs the role member, and the role of this user is viewer\./ }
const stream = `${parley.url.replace('http', 'ws')}/v1/transcribe/stream`
const ofStream = (...more: string[]) => ['service.realtime.v1', ...more]

t.test('a realtime socket opens for a member and the tokens of a member, but not for a viewer', async (t) => {
  const member = await signedIn('member')
  const mint = async () => {
    const answer = await postJson(member, '/v1/realtime/sessions', {})
    return answer.json<{ client_secret: { value: string } }>().client_secret.value
  }
  const [first, second] = [await mint(), await mint()]
  t.match(await opening(stream, ofStream(`service.ephemeral.${first}`)), { status: 101 })
  t.match(await opening(stream, ofStream(), { authorization: `Bearer ${member.key}` }), { status: 101 })
  const viewer = await signedIn('viewer')
  t.match(await opening(stream, ofStream(`service.ephemeral.${second}`)), refused)
  t.match(await opening(stream, ofStream(), { authorization: `Bearer ${viewer.key}` }), refused)
  for (const path of ['/v1/realtime/sessions', '/v1/realtime/client_secrets'])
    t.equal((await postJson(viewer, path, {})).status, 403, path)
})

t.test('the media channel of a session opens only while its user is at least a member', async (t) => {
  const member = await signedIn('member')
  const answer = await postJson(member, '/v1/sessions', { intent: { language: 'en' } })
  const { transportUrl, transportToken } = answer.json<{ transportUrl: string; transportToken: string }>()
  const protocols = ['service.session.v1', `service.ephemeral.${transportToken}`]
  await signedIn('viewer')
  t.match(await opening(transportUrl, protocols), refused)
  await signedIn('member')
  t.match(await opening(transportUrl, protocols), { status: 101 })
})
