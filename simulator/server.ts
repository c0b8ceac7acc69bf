/** The carrier's HTTP API on a free loopback port: limits, authentication, JSON, and the table of paths. */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Brands } from './brands.ts'
import { type Action, actions, type Calls } from './calls.ts'
import type { Campaigns } from './campaigns.ts'
import { type Fields, isFields, textOrNull } from './fields.ts'
import type { LocalPools } from './local-pools.ts'
import { passedOnHeader, passOn, portOf } from './neighbours.ts'
import type { NumberInventory } from './numbers.ts'
import { badRequest, notFound, Refusal, tooLarge, unauthorized, unexpected } from './refusal.ts'
import type { RichMessages } from './rich-messages.ts'

const bodyBytesMax = 256 * 1024
const requestMs = 10_000
const connectionsMax = 256

export type ApiDeps = {
  calls: Calls
  numbers: NumberInventory
  brands: Brands
  campaigns: Campaigns
  messages: RichMessages
  apiKey: string
  pools: LocalPools
}

export async function listen(deps: ApiDeps): Promise<{ server: Server; port: number }> {
  const server = createServer({ requestTimeout: requestMs, headersTimeout: requestMs }, (request, response) => {
    void handle(deps, request, response)
  })
  server.maxConnections = connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, resolve)
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** Answers a request. Never rejects. */
async function handle(deps: ApiDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await bodyOf(request)
    if (!isAuthentic(request, deps.apiKey)) throw unauthorized()
    const passed = await passedOn(deps, request, body)
    if (passed) write(response, passed.status, passed.text)
    else write(response, 200, JSON.stringify(answer(deps, request, body)))
  } catch (error) {
    const { status, body } = error instanceof Refusal ? error : unexpected()
    write(response, status, JSON.stringify(body))
  }
}

/**
 * If the request is about a leg in another process's simulator, forwards the request and returns that process's answer.
 */
async function passedOn({ apiKey, pools }: ApiDeps, request: IncomingMessage, body: string) {
  const { method, url: path = '/', socket } = request
  if ((method !== 'GET' && method !== 'POST') || request.headers[passedOnHeader] !== undefined) return null
  const port = portOf(legIn(new URL(path, 'http://127.0.0.1').pathname, body) ?? '')
  if (port === null || port === socket.localPort) return null
  return passOn(pools, { port, method, path, body, apiKey })
}

/**
 * Returns the id of the request's leg, or null. If a new call is linked to another leg, that leg's id is returned: both
 * legs must be in the same simulator to be bridged.
 */
function legIn(path: string, body: string): string | null {
  const [, id] = /^\/v2\/calls\/([^/]+)/.exec(path) ?? []
  if (id !== undefined) return idIn(id)
  return path === '/v2/calls' && body.includes('"link_to"') ? textOrNull(parse(body), 'link_to') : null
}

function write(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyBytesMax) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function isAuthentic(request: IncomingMessage, apiKey: string): boolean {
  const given = Buffer.from(request.headers.authorization ?? '')
  const expected = Buffer.from(`Bearer ${apiKey}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

type Call = { deps: ApiDeps; id: string; query: URLSearchParams; fields: () => Fields }
type Route = { method: string; path: RegExp; answer: (call: Call) => object }

const routes: readonly Route[] = [
  { method: 'POST', path: /^\/v2\/calls$/, answer: ({ deps, fields }) => ({ data: deps.calls.dial(fields()) }) },
  {
    method: 'GET',
    path: /^\/v2\/calls\/([^/]+)$/,
    answer: ({ deps, id }) => ({ data: deps.calls.legs.retrieve(id) }),
  },
  {
    method: 'GET',
    path: /^\/v2\/connections\/([^/]+)\/active_calls$/,
    answer: ({ deps, id, query }) => deps.calls.legs.listActive(id, query),
  },
  ...actions.map(actionRoute),
  {
    method: 'GET',
    path: /^\/v2\/available_phone_numbers$/,
    answer: ({ deps, query }) => deps.numbers.search(query),
  },
  { method: 'POST', path: /^\/v2\/number_orders$/, answer: ({ deps, fields }) => deps.numbers.order(fields()) },
  { method: 'GET', path: /^\/v2\/number_orders$/, answer: ({ deps, query }) => deps.numbers.listOrders(query) },
  {
    method: 'GET',
    path: /^\/v2\/number_orders\/([^/]+)$/,
    answer: ({ deps, id }) => deps.numbers.retrieveOrder(id),
  },
  { method: 'GET', path: /^\/v2\/phone_numbers$/, answer: ({ deps, query }) => deps.numbers.list(query) },
  ...smsRoutes(),
  { method: 'POST', path: /^\/v2\/rich_messages$/, answer: ({ deps, fields }) => deps.messages.send(fields()) },
  {
    method: 'GET',
    path: /^\/v2\/rich_messages\/identities\/([^/]+)$/,
    answer: ({ deps, id }) => deps.messages.retrieveIdentity(id),
  },
  { method: 'DELETE', path: /^\/v2\/phone_numbers\/([^/]+)$/, answer: ({ deps, id }) => deps.numbers.release(id) },
]

/** Returns the routes for the text message registry. The registry's answers have no surrounding `data` object. */
function smsRoutes(): Route[] {
  const root = '^/v2/10dlc'
  const brand = new RegExp(`${root}/brand/([^/]+)$`)
  const vetting = new RegExp(`${root}/brand/([^/]+)/externalVetting$`)
  const numbers = new RegExp(`${root}/phone_number_campaigns$`)
  const number = new RegExp(`${root}/phone_number_campaigns/([^/]+)$`)
  const route = (method: string, path: RegExp, answer: Route['answer']) => ({ method, path, answer })
  return [
    route('POST', new RegExp(`${root}/brand$`), ({ deps, fields }) => deps.brands.create(fields())),
    route('GET', new RegExp(`${root}/brand$`), ({ deps, query }) => deps.brands.list(query)),
    route('GET', brand, ({ deps, id }) => deps.brands.retrieve(id)),
    route('PUT', brand, ({ deps, id, fields }) => deps.brands.update(id, fields())),
    route('GET', vetting, ({ deps, id }) => deps.brands.listVettings(id)),
    route('POST', vetting, ({ deps, id, fields }) => deps.brands.orderVetting(id, fields())),
    route('POST', new RegExp(`${root}/campaignBuilder$`), ({ deps, fields }) => deps.campaigns.create(fields())),
    route('GET', new RegExp(`${root}/campaign$`), ({ deps, query }) => deps.campaigns.list(query)),
    route('GET', new RegExp(`${root}/campaign/([^/]+)$`), ({ deps, id }) => deps.campaigns.retrieve(id)),
    route('POST', numbers, ({ deps, fields }) => deps.campaigns.assign(fields())),
    route('GET', number, ({ deps, id }) => deps.campaigns.retrieveAssignment(id)),
    route('PUT', number, ({ deps, id, fields }) => deps.campaigns.reassign(id, fields())),
    route('DELETE', number, ({ deps, id }) => deps.campaigns.unassign(id)),
  ]
}

function actionRoute(action: Action): Route {
  return {
    method: 'POST',
    path: new RegExp(`^/v2/calls/([^/]+)/actions/${action}$`),
    answer: ({ deps, id, fields }) => ({ data: deps.calls.command(id, action, fields()) }),
  }
}

function answer(deps: ApiDeps, request: IncomingMessage, body: string): object {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1')
  for (const { method, path, answer } of routes) {
    const match = request.method === method ? path.exec(pathname) : null
    if (!match) continue
    return answer({ deps, id: idIn(match[1] ?? ''), query: searchParams, fields: () => parse(body) })
  }
  throw notFound()
}

function idIn(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw notFound()
  }
}

function parse(body: string): Fields {
  try {
    const fields: unknown = JSON.parse(body === '' ? '{}' : body)
    if (isFields(fields)) return fields
  } catch {
    // Invalid JSON is refused below.
  }
  throw badRequest()
}
