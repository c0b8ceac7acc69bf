/** Runs a real OpenID Connect provider in the test's process. A person signs in there. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

export type Account = { email?: string; email_verified?: boolean; name?: string }

/** Starts the issuer's server. `open` is called when Parley's URL is known. */
export async function startIssuer(t: { teardown(run: () => Promise<void>): void }) {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const accounts = new Map<string, Account>()
  const open = (redirectUri: string) => {
    const provider = new Provider(url, {
      clients: [{ client_id: 'parley', client_secret: 'secret of the client', redirect_uris: [redirectUri] }],
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, ...accounts.get(id) }),
      }),
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: true } },
      cookies: { keys: ['a key of the test'] },
    })
    const handle = provider.callback()
    server.on('request', (request, response) => handle(request, response))
  }
  return { url, accounts, open }
}

/** Signs in at the issuer from an authorization URL, and returns the URL to which the issuer redirects. */
export async function signInAtIssuer(authorization: string, login: string, back: string): Promise<URL> {
  const cookies = new Map<string, string>()
  const ask = async (url: string, form?: Record<string, string>) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const body = form && new URLSearchParams(form)
    const answer = await fetch(url, {
      method: form ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie },
      ...(body && { body }),
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    await answer.text()
    return new URL(answer.headers.get('location') ?? url, url)
  }
  let at = await ask(authorization)
  const prompts = [{ prompt: 'login', login, password: 'any' }, { prompt: 'consent' }]
  for (let steps = 0; steps < 12 && !at.href.startsWith(back); steps += 1)
    at = at.pathname.startsWith('/interaction/') ? await ask(at.href, prompts.shift()) : await ask(at.href)
  return at
}
