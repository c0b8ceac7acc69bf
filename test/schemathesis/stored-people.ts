/** Stores people, console sessions, invitations and API keys, because no random request guesses an id or a cookie. */
import type { Target } from '../router/requests.ts'
import { Browser } from '../sign-in/browser.ts'
import { tokenIn } from '../sign-in/mail-sink.ts'
import { password, sessionOf, signIn } from '../sign-in/setup.ts'
import { asked, type StoredThings } from './stored-things.ts'

/** These operations may end the cookie's session. Each has its own person, so the other operations stay signed in. */
const endings = ['/console/auth/organization', '/console/auth/sign-out', '/console/auth/password']

export async function storePeople(target: Target): Promise<StoredThings> {
  const ownKey = (await asked<{ id: string; publicId: string }[]>(target, 'GET', '/v1/keys')).find(({ publicId }) =>
    target.key.startsWith(publicId),
  )
  const keys = await made(3, (at) => idOf(target, '/v1/keys', { name: `spare ${at}`, scopes: ['router'] }))
  const invitations = await made(3, (at) =>
    idOf(target, '/v1/invitations', { email: `guest${at}@example.com`, role: 'viewer' }),
  )
  // The contract's example for signIn has this address and this password.
  const ann = await newPerson(target, 'ann@example.com')
  const spareSessions = await made(3, async () => {
    const browser = new Browser(target.url)
    await signIn(browser, 'ann@example.com')
    return sessionIdOf(browser)
  })
  const others = await made(endings.length, (at) => newPerson(target, `person${at}@example.com`))
  const cookies: StoredThings['cookies'] = { '/console/auth': cookieOf(ann.browser) }
  for (const [at, { browser }] of others.entries()) cookies[endings[at] ?? ''] = cookieOf(browser)
  return {
    ids: {
      '/v1/keys/{id}': keys,
      '/v1/invitations/{id}': invitations,
      '/v1/members/{userId}': others.map(({ userId }) => userId),
      '/console/auth/sessions/{id}': spareSessions,
    },
    // Without this key and this session, every answer would be 401.
    kept: [ownKey?.id ?? '', await sessionIdOf(ann.browser)],
    cookies,
  }
}

/** Invites a person and accepts the invitation. The person is signed in afterwards. */
async function newPerson(target: Target, email: string): Promise<{ userId: string; browser: Browser }> {
  const { url } = await asked<{ url: string }>(target, 'POST', '/v1/invitations', { email, role: 'admin' })
  const browser = new Browser(target.url)
  const accepted = await browser.post('/console/auth/invitation/accept', { token: tokenIn(url), name: 'Ann', password })
  if (accepted.status !== 200) throw new Error(accepted.text)
  return { userId: sessionOf(accepted).user.id, browser }
}

async function sessionIdOf(browser: Browser): Promise<string> {
  const { body } = await browser.get('/console/auth/sessions')
  return (body as { id: string; current: boolean }[]).find(({ current }) => current)?.id ?? ''
}

const cookieOf = ({ session }: Browser) => `parley_session=${session}`

async function idOf(target: Target, path: string, body: object): Promise<string> {
  return (await asked<{ id: string }>(target, 'POST', path, body)).id
}

/** Makes `count` things, one after the other. */
async function made<T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> {
  const things: T[] = []
  for (let at = 0; at < count; at += 1) things.push(await make(at))
  return things
}
