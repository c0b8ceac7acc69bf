/** Starts a server with stub providers, some with the operator's credential, and makes organizations for each test. */
import type { Test } from 'tap'
import type { Scope } from '../../domain/records/organization.ts'
import { openStore, type Store } from '../../store/store.ts'
import { databaseUrlOf } from '../process/database.ts'
import { until } from '../process/machine.ts'
import type { StubOpenAi, StubRequest } from '../providers/stub-openai.ts'
import { type Answer, ask, postJson, responses, send, type Target } from '../router/requests.ts'
import { ownServer, type Settings, serverWith, type TestServer } from '../server.ts'
import { defaults, organization } from '../store/cluster.ts'

export const platformKey = 'key-of-the-operator'

/**
 * Configures three providers over one stub: `main` and `second` have the operator's key, and `second` ranks behind
 * `main`. `other` has no key.
 */
export function stubProviders(stub: StubOpenAi, more: object[] = []): string {
  const provider = (id: string, apiKey: string) => ({
    id,
    adapter: 'openai',
    baseUrl: `${stub.url}/${id}/v1`,
    apiKey,
    models: { llm: ['chat'], tts: ['speak'], stt: ['listen'] },
  })
  return JSON.stringify([provider('main', platformKey), provider('other', 'env:NO_SUCH_KEY'), ...more])
}

/** Returns this process's shared server with these settings, and its administration, which ends with the test. */
export async function startAdministered(
  t: { teardown(run: () => Promise<void>): void },
  env: Settings = {},
): Promise<{ parley: TestServer; admin: Administration }> {
  return administered(t, await serverWith(env))
}

/** Starts a separate server for files with phone numbers, because each number exists once in a server. */
export async function startOwnAdministered(
  t: { teardown(run: () => Promise<void>): void },
  env: Settings = {},
): Promise<{ parley: TestServer; admin: Administration }> {
  return administered(t, await ownServer(t, env))
}

async function administered(t: { teardown(run: () => Promise<void>): void }, parley: TestServer) {
  const admin = await openAdministration(parley)
  t.teardown(() => admin.close())
  return { parley, admin }
}

/** A server in this process, or the built program with an embedded Postgres. */
type Administered = { url: string; dataDir: string } | Pick<TestServer, 'url' | 'dataDir' | 'databaseUrl'>

/** Opens functions to create organizations and keys in a running Parley's store. The caller closes it. */
export async function openAdministration(parley: Administered): Promise<Administration> {
  const { dataDir } = parley
  const databaseUrl = databaseUrlOf('databaseUrl' in parley ? parley : dataDir)
  const store = await openStore({ ...defaults, databaseUrl, dataDir, serves: false })
  async function key(organizationId: string, { scopes = routerAndPlatform, test = false }: KeyOptions = {}) {
    const wanted = { organizationId, name: 'of a test', scopes, test, policy: {}, expiresAtMs: null }
    const made = await store.keys.create(wanted)
    return { url: parley.url, key: made?.secret ?? '', keyId: made?.key.id ?? '' }
  }
  return {
    store,
    async organization(name, { scopes = routerAndPlatform, creditMicroUsd = 100_000_000 } = {}) {
      const { id } = await organization(store, name, creditMicroUsd)
      return { ...(await key(id, { scopes })), id }
    },
    key,
    close: () => store.close({ stopPostgres: false }),
  }
}

const routerAndPlatform: readonly Scope[] = ['router', 'platform']

type KeyOptions = { scopes?: readonly Scope[]; test?: boolean }

export type Administration = {
  store: Store
  key(organizationId: string, options?: KeyOptions): Promise<Target & { keyId: string }>
  organization(
    name: string,
    more?: { scopes?: readonly Scope[]; creditMicroUsd?: number },
  ): Promise<Target & { id: string; keyId: string }>
  close(): Promise<void>
}

/** Sends a request, with a JSON body if there is one. */
export function call(target: Target, method: string, path: string, body?: unknown): Promise<Answer> {
  if (body === undefined) return send(target, path, { method })
  return send(target, path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
}

/** Returns the answer's status, code and issue paths, for one comparison. */
export function faultOf(answer: Answer): { status: number; code: string; paths?: string[] } {
  const { code, issues } = answer.json<{ code: string; issues?: { path: string }[] }>()
  return { status: answer.status, code, ...(issues && { paths: issues.map(({ path }) => path) }) }
}

export const listProviders = (target: Target) => send(target, '/v1/providers')

export function putKey(target: Target, provider: string, apiKey: string): Promise<Answer> {
  const body = JSON.stringify({ provider, apiKey })
  return send(target, '/v1/providers', { method: 'PUT', body, headers: { 'content-type': 'application/json' } })
}

export function deleteKey(target: Target, provider: string): Promise<Answer> {
  return send(target, `/v1/providers/${provider}`, { method: 'DELETE' })
}

export function answer(target: Target, routing?: object): Promise<Answer> {
  return postJson(target, responses, ask('Hello.', routing ? { routing } : {}))
}

export const pinned = (model: string) => ({ mode: 'explicit', model })

/** Returns the provider and the credential of each request at the stub, such as `main key-of-the-operator`. */
export function seen(requests: readonly StubRequest[]): string[] {
  return requests.map(({ path, headers }) => {
    const bearer = String(headers.authorization ?? '').replace('Bearer ', '')
    return `${path.split('/')[1]} ${bearer}`
  })
}

export type Route = {
  request_id: string
  outcome: string
  candidate: string | null
  runners_up: string[]
  excluded: { provider: string; model: string; reason: string; detail?: string }[]
  scores: { id: string; score: number | null; parts: Record<string, number | null> }[]
  cost_micro_usd: string | null
  attempts: {
    attempt_id: string
    provider: string
    model: string
    outcome: string
    first_byte_ms: number | null
    quantities: { unit: string; amount: number }[]
    cost_micro_usd: string | null
    priced: boolean
    price_source: string | null
    key_source: string
  }[]
}

/** Returns the request's route once it is stored, because the ledger is written a moment after the answer. */
export async function routeOf(t: Test, target: Target, made: Answer): Promise<Route> {
  const id = made.headers.get('service-request-id') ?? ''
  let found = await send(target, `/v1/requests/${id}/route`)
  await until('the ledger has the request', async () => {
    if (found.status === 404) found = await send(target, `/v1/requests/${id}/route`)
    return found.status !== 404
  })
  t.equal(found.status, 200, found.text)
  return found.json<Route>()
}
