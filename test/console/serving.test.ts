/**
 * Tests /console over HTTP: one page at each path, hashed files, compression, conditional requests, the content
 * security policy.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { widenInternalHandlers } from '../../generated/internal/handlers.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { compatPlaces } from '../../handlers/faults/places.ts'
import { createFaultWriter } from '../../handlers/faults/writer.ts'
import { consoleHandlers } from '../../handlers/internal/console.ts'
import { type Served, start } from '../http/harness.ts'
import { serverWith } from '../server.ts'

const files = {
  'index.html': '<html lang="en"></html>',
  'signed-out.html': '<html data-session="none" lang="en"></html>',
  'assets/main-a1.js': 'void 0',
  'assets/main-b2.css': 'b {}',
}

function folderOf(t: Test): string {
  const parent = mkdtempSync(path.join(os.tmpdir(), 'parley-console-'))
  t.teardown(() => rmSync(parent, { recursive: true, force: true }))
  const folder = path.join(parent, 'console')
  mkdirSync(path.join(folder, 'assets'), { recursive: true })
  writeFileSync(path.join(parent, 'secret.js'), 'secret')
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(folder, name), text)
    writeFileSync(path.join(folder, `${name}.gz`), gzipSync(text))
  }
  return folder
}

async function serve(t: Test, consoleFolder: string): Promise<Served> {
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const isOfConsole = ({ pattern }: { pattern: string }) => /^\/console(\/(:|assets)|$)/.test(pattern)
  const { operations, paths } = internalSurface
  const writeFault = createFaultWriter({
    log: quiet,
    count: () => {},
    headerPrefix: 'Service',
    contract: '/openapi/compat.json',
    hasIdempotencyKeys: false,
    places: compatPlaces,
  })
  const handlers = consoleHandlers({ consoleFolder }) as Parameters<typeof widenInternalHandlers>[0]
  const server = await start([
    {
      surface: { name: 'internal', operations: operations.filter(isOfConsole), paths: paths.filter(isOfConsole) },
      ...{ basePath: '', host: null, corsOrigins: [], quota: false, health: true, writeFault },
      handlers: widenInternalHandlers(handlers),
    },
  ])
  t.teardown(() => server.drain())
  return server
}

const withSession = { cookie: 'parley_session=secret' }

type Answer = { status: number; headers: http.IncomingHttpHeaders; body: Buffer }

/** Sends a path as it is over node:http, because fetch removes `..` from it and decompresses answers. */
function ask(
  server: { url: string },
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Answer> {
  const { hostname, port } = new URL(server.url)
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
      })
    })
    request.on('error', reject).end()
  })
}

t.test('each path below /console serves one page, whose content security policy forbids inline code', async (t) => {
  const server = await serve(t, folderOf(t))
  const host = new URL(server.url).host
  for (const address of ['/console', '/console/calls', '/console/calls/019aaaf6', '/console/a?b=c']) {
    const { status, headers, body } = await ask(server, address, withSession)
    t.same([status, headers['content-type'], body.toString()], [200, 'text/html; charset=utf-8', files['index.html']])
    t.match(headers, {
      vary: 'Accept-Encoding, Cookie',
      'cache-control': 'no-cache',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ws://${host} wss://${host}; img-src 'self' data:; media-src 'self' blob:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'permissions-policy': 'microphone=(self)',
      'cross-origin-resource-policy': 'same-origin',
    })
    const head = await ask(server, address, withSession, 'HEAD')
    t.same([head.status, head.body.length, head.headers.etag], [200, 0, headers.etag], `HEAD ${address}`)
  }
})

t.test('the page says if the browser has no session', async (t) => {
  const server = await serve(t, folderOf(t))
  const { headers, body } = await ask(server, '/console', { 'accept-encoding': 'gzip', cookie: 'other=1' })
  t.equal(headers['content-encoding'], 'gzip')
  t.equal(gunzipSync(body).toString(), files['signed-out.html'])
  t.match(headers, { vary: 'Accept-Encoding, Cookie', 'cache-control': 'no-store' }, 'not shown again after signing in')
  const { etag = '' } = headers
  const after = await ask(server, '/console', { 'if-none-match': etag, ...withSession })
  t.equal(after.body.toString(), files['index.html'], 'after signing in')
})

t.test("a browser that has cached the console's page gets 304", async (t) => {
  const server = await serve(t, folderOf(t))
  const { etag = '' } = (await ask(server, '/console', withSession)).headers
  t.match(etag, /^"[\w-]{22}"$/)
  const again = await ask(server, '/console/calls', { 'if-none-match': etag, ...withSession })
  t.same([again.status, again.body.length], [304, 0])
  t.equal((await ask(server, '/console', { 'if-none-match': '"other"', ...withSession })).status, 200)
})

t.test('files of the console never change, and are compressed for clients that read gzip', async (t) => {
  const server = await serve(t, folderOf(t))
  const types = { 'main-a1.js': 'text/javascript', 'main-b2.css': 'text/css' } as const
  for (const [name, type] of Object.entries(types)) {
    const plain = await ask(server, `/console/assets/${name}`)
    t.match(plain, { status: 200, headers: { 'content-type': type, vary: 'Accept-Encoding' } })
    t.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
    t.equal(plain.headers['content-encoding'], undefined)
    for (const accepted of ['gzip', 'br, gzip;q=0.5', '*']) {
      const packed = await ask(server, `/console/assets/${name}`, { 'accept-encoding': accepted })
      t.equal(packed.headers['content-encoding'], 'gzip', accepted)
      t.same(gunzipSync(packed.body), plain.body)
    }
    for (const accepted of ['br', 'gzip;q=0', 'gzip; q=0.000', 'identity'])
      t.equal(
        (await ask(server, `/console/assets/${name}`, { 'accept-encoding': accepted })).headers['content-encoding'],
        undefined,
        accepted,
      )
  }
})

t.test('an unknown file of the console is 404, and no path leaves the folder', async (t) => {
  const server = await serve(t, folderOf(t))
  const names = [
    'nothing.js',
    'main-a1.js.gz',
    'index.html',
    '..%2findex.html',
    '..%2f..%2fsecret.js',
    'constructor',
    '%00',
  ]
  for (const name of names) t.equal((await ask(server, `/console/assets/${name}`)).status, 404, name)
  for (const address of ['/console/assets', '/console/auth/nothing', '/console/a/b/c'])
    t.equal((await ask(server, address)).status, 404, address)
})

t.test('without a build there is no console', async (t) => {
  const server = await serve(t, '/nonexistent')
  for (const address of ['/console', '/console/calls', '/console/assets/main-a1.js'])
    t.match(await ask(server, address), { status: 404, headers: { 'content-type': 'application/json' } })
})

t.test("requests for the console do not count against the quota of the client's IP address", async (t) => {
  const server = await serverWith({ PARLEY_EDGE_QUOTA: '3' })
  for (let request = 0; request < 10; request++)
    t.not((await ask(server, '/console/assets/nothing.js')).status, 429, 'never too many')
  t.equal((await ask(server, '/v1/organization')).status, 401)
  t.equal((await ask(server, '/console/')).status, (await ask(server, '/console')).status, 'with a slash')
})
