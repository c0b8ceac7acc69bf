/** The client for Go passes Go's strictest checks, and its tests against servers that misbehave. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { ownServer } from '../server.ts'
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

t.test('the programs in the README compile, and the speech program runs', { skip: noGo ?? false }, async (t) => {
  const folder = t.testdir()
  for (const [place, program] of readmePrograms().entries()) {
    mkdirSync(path.join(folder, `${place}`))
    writeFileSync(path.join(folder, `${place}`, 'main.go'), program)
  }
  const module = readFileSync(path.join(tests, 'go.mod'), 'utf8')
  writeFileSync(path.join(folder, 'go.mod'), module.replace(/=> .*/, `=> ${client}`))
  cpSync(path.join(tests, 'go.sum'), path.join(folder, 'go.sum'))
  t.equal(await printedBy('go', ['vet', './...'], folder), '')
  const parley = await ownServer(t)
  const env = { PARLEY_URL: parley.url, PARLEY_API_KEY: parley.key }
  const output = await printedBy('go', ['run', './1'], folder, env)
  t.match(output, /^(stt|tts|llm) \w+/m)
  t.match(output, /all lines are open/i)
  const refused = await printedBy('go', ['run', './0'], folder, { ...env, PARLEY_API_KEY: 'sk_live_wrong' })
  t.match(refused, /parley: 401 \w+: .* \(retryable: false, request \w+/)
})

/** Returns the first program of the README, and the first program with the lines of each later section. */
function readmePrograms(): string[] {
  const text = readFileSync(path.join(client, 'README.md'), 'utf8')
  const [first = '', ...sections] = [...text.matchAll(/^```go\n([^]*?)^```/gm)].map(([, code = '']) => code)
  const imports = [...text.matchAll(/^Add these lines to `main`, and (.*) to the imports:$/gm)].map(([, names = '']) =>
    [...names.matchAll(/`(.*?)`/g)].map(([, name = '']) => `\t"${name}"\n`).join(''),
  )
  const added = sections.map((lines, place) =>
    first
      .replace('import (\n', `import (\n${imports[place]}`)
      .replace('\n}\n\nfunc check', `\n${lines}}\n\nfunc check`),
  )
  return [first, ...added]
}

t.test('the client for Go passes its tests', { skip: noGo ?? false }, async (t) => {
  t.match(await printedBy('go', ['test', '-count=1', './...'], tests), /^ok\s/m)
})
