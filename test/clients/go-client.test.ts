/** The client for Go passes Go's strictest checks, and its tests against servers that misbehave. */
import path from 'node:path'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { printedBy } from './printed.ts'
import { install } from './setup.ts'

const limitMs = 600_000
const client = packageFile('generated/clients/go').pathname
const tests = path.join(import.meta.dirname, 'go')
const folders = [client, tests, path.join(import.meta.dirname, 'scenario/go')]
const tools = packageFile('.cache/clients/go/bin').pathname

t.setTimeout(5 * limitMs)
const noGo = (await install('go', ['version'])) ?? (await install('go', ['-C', client, 'mod', 'download']))
const noStaticcheck =
  noGo ?? (await install('env', [`GOBIN=${tools}`, 'go', 'install', 'honnef.co/go/tools/cmd/staticcheck@v0.8.2']))

t.test('the client for Go is formatted by gofmt', { skip: noGo ?? false }, async (t) => {
  for (const folder of folders) t.equal(await printedBy('gofmt', ['-l', '.'], folder), '')
})

t.test('go vet finds no fault in the client for Go', { skip: noGo ?? false }, async (t) => {
  for (const folder of folders) t.equal(await printedBy('go', ['vet', './...'], folder), '')
})

t.test('staticcheck finds no fault in the client for Go', { skip: noStaticcheck ?? false }, async (t) => {
  for (const folder of folders) t.equal(await printedBy(path.join(tools, 'staticcheck'), ['./...'], folder), '')
})

t.test('the client for Go passes its tests', { skip: noGo ?? false }, async (t) => {
  t.match(await printedBy('go', ['test', '-count=1', './...'], tests), /^ok\s/m)
})
