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

/** The same for the AsyncAPI document of the sockets. `settings` are those of the sockets' surface. */
export function serveSocketContract<Document extends object>(text: string, settings: Settings): Serve<Document> {
  const { host } = settings
  return served<Document>(text, settings, (document) => {
    const [usual] = Object.values('servers' in document ? (document.servers as Servers) : {})
    const at = (protocol: string, description: string) => ({ ...usual, host, protocol, description })
    return {
      plain: at('ws', 'The host of the sockets.'),
      tls: at('wss', 'The same, where a proxy in front of it has a certificate.'),
    }
  })
}

type Serve<Document> = () => { status: 200; body: Document }
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
