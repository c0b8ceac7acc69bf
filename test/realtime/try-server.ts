/** Serves the page /try on this machine, with a stub token and two stub providers. */
import http from 'node:http'
import type { Test } from 'tap'
import type { MintedToken } from '../../domain/access/ephemeral.ts'
import { Catalog } from '../../domain/catalog/catalog.ts'
import { Health } from '../../domain/health/health.ts'
import { Chooser } from '../../domain/routing/chooser.ts'
import { createPreview } from '../../domain/routing/preview.ts'
import { widenInternalHandlers } from '../../generated/internal/handlers.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { compatPlaces } from '../../handlers/faults/places.ts'
import { createFaultWriter } from '../../handlers/faults/writer.ts'
import { consoleHandlers } from '../../handlers/internal/console.ts'
import { docsHandlers } from '../../handlers/internal/docs.ts'
import { getRankingPage } from '../../handlers/internal/ranking.ts'
import { siteHandlers } from '../../handlers/internal/site.ts'
import { healthHandlers } from '../../handlers/internal/surface.ts'
import { type TryDeps, tryHandlers } from '../../handlers/internal/try.ts'
import { tryAgentHandlers } from '../../handlers/internal/try-agent.ts'
import { TestClock } from '../clock.ts'
import { caller, healthLimits, model, provider } from '../domain/fakes.ts'
import { type Served, start } from '../http/harness.ts'
import { noConsole } from '../http/no-console.ts'

/** The token that the page gets. */
export const secret = 'v1.eyJqdGkiOiJhIn0.c2lnbmF0dXJl'
const minted: MintedToken = { value: secret, expiresInS: 60, expiresAtMs: 0 }
const facts = { failuresMax: 3, openMs: 1000, openMaxMs: 8000, retryAfterMaxMs: 60_000, hedges: false }

function previewer(): TryDeps['preview'] {
  const clock = new TestClock()
  const health = new Health(clock, healthLimits)
  const away = Object.assign(provider('away', [model('stt', { id: 'x' })]), { reason: 'no_credential' })
  const here = provider('here', [model('stt', { id: 'org/small' })])
  const chooser = new Chooser({ catalog: new Catalog([here, away]), health, testProviders: new Set() })
  return createPreview(chooser)
}

export async function serve(t: Test, changes: Partial<TryDeps> = {}): Promise<Served> {
  const deps = {
    caller: () => caller(),
    mint: () => minted,
    preview: previewer(),
    headerPrefix: 'Acme',
    isOpen: false,
    contracts: ['/x.json'],
    ...changes,
  }
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const server = await start([
    {
      surface: internalSurface,
      basePath: '',
      host: null,
      handlers: widenInternalHandlers({
        ...healthHandlers([], { engine: 'node', reason: null }),
        ...tryHandlers(deps),
        ...tryAgentHandlers({ ...deps, parts: null }),
        ...siteHandlers,
        ...consoleHandlers({ consoleFolder: '/nonexistent' }),
        ...docsHandlers({ docsFolder: '/nonexistent', headerPrefix: 'Acme' }),
        ...getRankingPage(facts, deps),
        createSimulatedCall: () => Promise.reject(new Error('no simulator here')),
        advanceSimulatorClock: () => Promise.reject(new Error('no simulator here')),
        receiveCarrierWebhook: () => Promise.reject(new Error('no carrier here')),
        receiveMessageWebhook: () => Promise.reject(new Error('no provider of messages here')),
        ...noConsole,
        getLinkedRecording: () => Promise.reject(new Error('no recording here')),
      }),
      writeFault: createFaultWriter({
        log: quiet,
        count: () => {},
        headerPrefix: 'Acme',
        contract: '/openapi/compat.json',
        hasIdempotencyKeys: false,
        places: compatPlaces,
      }),
      corsOrigins: [],
      quota: false,
      health: true,
    },
  ])
  t.teardown(() => server.drain())
  return server
}

type Answer = { status: number; headers: http.IncomingHttpHeaders; body: string }

/** Sends a request over node:http, because fetch does not allow to set Host and Origin. */
export function ask(
  server: Served,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(server.url + path, { method, headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    request.on('error', reject).end()
  })
}
