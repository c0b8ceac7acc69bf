/** The client for Go passes Go's strictest checks, and its tests against servers that misbehave. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { install } from './setup.ts'

const run = promisify(execFile)
const limitMs = 600_000
const client = packageFile('generated/clients/go').pathname
const tests = path.join(import.meta.dirname, 'go')
const folders = [client, tests, path.join(import.meta.dirname, 'scenario/go')]
const tools = packageFile('.cache/clients/go/bin').pathname

t.setTimeout(5 * limitMs)
const noGo = (await install('go', ['version'])) ?? (await install('go', ['-C', client, 'mod', 'download']))
const noStaticcheck =
  noGo ?? (await install('env', [`GOBIN=${tools}`, 'go', 'install', 'honnef.co/go/tools/cmd/staticcheck@v0.8.2']))

t.test('the client for Go has the form of gofmt', { skip: noGo ?? false }, async (t) => {
  for (const folder of folders) t.equal(await outputOf('gofmt', ['-l', '.'], folder), '')
})

t.test('go vet finds no fault in the client for Go', { skip: noGo ?? false }, async (t) => {
  for (const folder of folders) t.equal(await outputOf('go', ['vet', './...'], folder), '')
})

t.test('staticcheck finds no fault in the client for Go', { skip: noStaticcheck ?? false }, async (t) => {
  for (const folder of folders) t.equal(await outputOf(path.join(tools, 'staticcheck'), ['./...'], folder), '')
})

t.test('the client for Go passes its tests', { skip: noGo ?? false }, async (t) => {
  t.match(await outputOf('go', ['test', '-count=1', './...'], tests), /^ok\s/m)
})

/** Returns all that a command prints, also if it fails. */
async function outputOf(command: string, args: readonly string[], cwd: string): Promise<string> {
  try {
    const { stdout, stderr } = await run(command, args, { cwd, timeout: limitMs })
    return stdout + stderr
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    return stdout + stderr || message
  }
}
