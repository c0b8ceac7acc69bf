import type { Peer } from '../runtime/engine/handler.ts'
import type { PublicUrlOf } from './public-url.ts'
import type { SurfaceSettings } from './surface.ts'

type Settings = Pick<SurfaceSettings, 'headerPrefix' | 'host'>

/**
 * Serves an OpenAPI document from specs/ adapted to this deployment: header names and subprotocols have the
 * deployment's prefix. If the API has a host name, the document's `servers` entry is that host's root. The text is
 * parsed at the first request, because most servers never get such a request.
 */
export function serveContract<Document extends object>(text: string, settings: Settings): Serve<Document> {
  const { host } = settings
  // The `servers` URL is relative, so a client keeps the scheme and port from which it fetched the document.
  const servers = [{ url: '/', description: `The root of ${host}, which serves this surface alone.` }]
  return served(text, settings, () => servers)
}

/**
 * Serves the sockets' AsyncAPI document, adapted like an OpenAPI document. The server's URL is absolute here, because
 * AsyncAPI has no relative URLs. `settings` are the settings of the API with the sockets.
 */
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

/** Describes the server's URL as the client sees it. The URL may be a proxy's. */
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
    const document = JSON.parse(withHeaderPrefix(text, headerPrefix)) as Document
    return host === null ? document : { ...document, servers: serversAtHost(document) }
  }
  return () => ({ status: 200, body: (body ??= read()) })
}

/** Puts the deployment's prefix into all names of headers and subprotocols in a text from specs/. */
export function withHeaderPrefix(text: string, prefix: string): string {
  const lowerCase = prefix.toLowerCase()
  return text
    .replace(/\b(X-)?Service-(?=[A-Z])/g, `$1${prefix}-`)
    .replace(/\bx-service-(?=[a-z])/g, `x-${lowerCase}-`)
    .replace(/\bservice\.(?=realtime\.|session\.|ephemeral\.)/g, `${lowerCase}.`)
}
