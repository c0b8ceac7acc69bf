import type { Peer } from '../runtime/engine/handler.ts'
import type { PublicUrlOf } from './public-url.ts'
import type { SurfaceSettings } from './surface.ts'

type Settings = Pick<SurfaceSettings, 'headerPrefix' | 'host'>

/**
 * Serves an OpenAPI document of specs/ as this deployment speaks it: with its prefix in the names of headers and
 * subprotocols, and with the root of its host as its address where the surface has a host name. The text is parsed at the
 * first request, because most servers never get one.
 */
export function serveContract<Document extends object>(text: string, settings: Settings): Serve<Document> {
  const { host } = settings
  // The address is relative to that of the document, so that the scheme and the port are those that a client uses.
  const servers = [{ url: '/', description: `The root of ${host}, which serves this surface alone.` }]
  return served(text, settings, () => servers)
}

/** The same for the AsyncAPI document of the sockets, which has no relative addresses. `settings` are those of the sockets' surface. */
export function serveSocketContract<Document extends object>(
  text: string,
  settings: Settings,
  publicUrlOf: PublicUrlOf,
): ServeAt<Document> {
  const { host } = settings
  const serve = served<Document>(text, settings, (document) => {
    const at = (protocol: string, description: string) => ({ ...usualServer(document), host, protocol, description })
    return {
      plain: at('ws', 'The host of the sockets.'),
      tls: at('wss', 'The same, where a proxy in front of it has a certificate.'),
    }
  })
  if (host !== null) return serve
  return (_input, { peer }) => {
    const { status, body } = serve()
    return { status, body: { ...body, servers: { local: { ...usualServer(body), ...addressOf(publicUrlOf(peer)) } } } }
  }
}

function usualServer(document: object): object | undefined {
  return Object.values('servers' in document ? (document.servers as Servers) : {})[0]
}

/** A proxy in front of this server may have another address, which clients use. */
function addressOf(publicUrl: string): object {
  const { protocol, host, pathname } = new URL(publicUrl)
  const description = 'The server that served this document.'
  return { host, protocol: protocol === 'https:' ? 'wss' : 'ws', ...(pathname !== '/' && { pathname }), description }
}

type Serve<Document> = () => { status: 200; body: Document }
type ServeAt<Document> = (input: unknown, context: { peer: Peer }) => ReturnType<Serve<Document>>
type Servers = Readonly<Record<string, object>>

function served<Document extends object>(
  text: string,
  { headerPrefix, host }: Settings,
  serversAtHost: (document: Document) => object,
): Serve<Document> {
  let body: Document | null = null
  const read = () => {
    const document = JSON.parse(renamed(text, headerPrefix)) as Document
    return host === null ? document : { ...document, servers: serversAtHost(document) }
  }
  return () => ({ status: 200, body: (body ??= read()) })
}

function renamed(text: string, prefix: string): string {
  const lowerCase = prefix.toLowerCase()
  return text
    .replace(/\b(X-)?Service-(?=[A-Z])/g, `$1${prefix}-`)
    .replace(/\bx-service-(?=[a-z])/g, `x-${lowerCase}-`)
    .replace(/\bservice\.(?=realtime\.|session\.|ephemeral\.)/g, `${lowerCase}.`)
}
