/**
 * Tests /docs over HTTP: content types, headers, conditional requests, unknown paths, and the deployment's prefix of
 * header names.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { widenInternalHandlers } from '../../generated/internal/handlers.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { compatPlaces } from '../../handlers/faults/places.ts'
import { createFaultWriter } from '../../handlers/faults/writer.ts'
import { docsHandlers } from '../../handlers/internal/docs.ts'
import { type Served, start } from '../http/harness.ts'

const files = {
  'index.html': '<title>Pages</title>',
  '404.html': '<title>Not found</title>',
  'style.css': 'body {}',
  'search.js': 'void 0',
  'search.json': '[]',
  'llms.txt': 'The header Service-Region, x-service-intent and the subprotocol service.realtime.v1',
  'router/index.md': '# Router – all',
  'files/Caddyfile': 'example.com',
  'files/board.png': '\x89PNG',
  'files/film.gif': 'GIF89a\xf7',
}

const isImage = (name: string) => /\.(png|gif)$/.test(name)

function folderOf(t: Test): string {
  const parent = mkdtempSync(path.join(os.tmpdir(), 'parley-docs-'))
  t.teardown(() => rmSync(parent, { recursive: true, force: true }))
  const folder = path.join(parent, 'docs')
  writeFileSync(path.join(parent, 'secret.txt'), 'secret')
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), text, isImage(name) ? 'latin1' : 'utf8')
  }
  return folder
}

async function serve(t: Test, docsFolder: string): Promise<Served> {
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const isOfDocs = ({ pattern }: { pattern: string }) => /^\/docs(\/:|$)/.test(pattern)
  const { operations, paths } = internalSurface
  const handlers = docsHandlers({ docsFolder, headerPrefix: 'Acme' })
  const server = await start([
    {
      surface: { name: 'internal', operations: operations.filter(isOfDocs), paths: paths.filter(isOfDocs) },
      basePath: '',
      host: null,
      handlers: widenInternalHandlers(handlers as Parameters<typeof widenInternalHandlers>[0]),
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

/** Sends a path as it is over node:http, because fetch removes `..` from it. */
function ask(server: Served, path: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method, headers, agent: false }, (response) => {
      let body = ''
      response.setEncoding(isImage(path) ? 'latin1' : 'utf8').on('data', (chunk: string) => (body += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    request.on('error', reject).end()
  })
}

t.test('each kind of file of /docs is served with its type, a strict policy and no key', async (t) => {
  const server = await serve(t, folderOf(t))
  const types = {
    'index.html': 'text/html; charset=utf-8',
    'style.css': 'text/css',
    'search.js': 'text/javascript',
    'search.json': 'application/json',
    'llms.txt': 'text/plain; charset=utf-8',
    'router/index.md': 'text/markdown; charset=utf-8',
    'files/Caddyfile': 'text/plain; charset=utf-8',
    'files/board.png': 'image/png',
    'files/film.gif': 'image/gif',
  }
  for (const [name, type] of Object.entries(types)) {
    const { status, headers, body } = await ask(server, `/docs/${name}`)
    t.equal(status, 200, name)
    t.equal(headers['content-type'], type, name)
    t.match(headers, {
      'cache-control': 'no-cache',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
    const head = await ask(server, `/docs/${name}`, 'HEAD')
    t.same([head.status, head.body, head.headers.etag], [200, '', headers.etag], `HEAD ${name}`)
    t.equal(head.headers['content-length'], headers['content-length'])
    t.ok(body !== '')
    if (isImage(name)) t.equal(body, files[name as keyof typeof files], `the bytes of ${name}`)
  }
  t.equal((await ask(server, '/docs/router/index.md')).body, files['router/index.md'])
  t.match(await ask(server, '/docs'), { status: 302, headers: { location: '/docs/index.html' } })
})

t.test('a client that has the file of /docs gets 304 without a body', async (t) => {
  const server = await serve(t, folderOf(t))
  const { etag = '' } = (await ask(server, '/docs/style.css')).headers
  t.match(etag, /^"[\w-]{22}"$/)
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const { status, headers, body } = await ask(server, '/docs/style.css', 'GET', { 'if-none-match': known })
    t.same([status, headers.etag, body], [304, etag, ''], known)
  }
  t.equal((await ask(server, '/docs/style.css', 'GET', { 'if-none-match': '"other"' })).status, 200)
})

t.test('an unknown path below /docs gets the not-found page, and no path leads out of the folder', async (t) => {
  const server = await serve(t, folderOf(t))
  const paths = [
    'nothing.html',
    'router/nothing.html',
    '404.html',
    'router',
    '..%2fsecret.txt',
    'router%2f..%2f..%2fsecret.txt',
  ]
  for (const name of [...paths, '%2e%2e/secret.txt', 'files/..%2f..%2fsecret.txt', '%00', 'constructor']) {
    const { status, headers, body } = await ask(server, `/docs/${name}`)
    t.same([status, headers['content-type'], body], [404, 'text/html; charset=utf-8', files['404.html']], name)
  }
  const outside = await ask(server, '/docs/../secret.txt')
  t.equal(outside.status, 404)
  t.notMatch(outside.body, /^secret/)
})

t.test("names of headers and subprotocols in /docs have this deployment's prefix", async (t) => {
  const server = await serve(t, folderOf(t))
  const { body } = await ask(server, '/docs/llms.txt')
  t.equal(body, 'The header Acme-Region, x-acme-intent and the subprotocol acme.realtime.v1')
})

t.test('a server from unbuilt sources has no documentation, and answers /docs like an unknown path', async (t) => {
  const server = await serve(t, '/nonexistent')
  const { status, headers } = await ask(server, '/docs/index.html')
  t.same([status, headers['content-type']], [404, 'application/json'])
})
