/**
 * The snippets of the documentation fit the generated clients: in Python by strict types, in Go by go vet and gofmt.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { packageFile } from '../../runtime/package-file.ts'
import { contracts } from '../docs-pages/site.ts'
import { operations, snippetsOf } from '../docs-pages/snippet-texts.ts'
import { printedBy } from './printed.ts'
import { pythonEnvironment } from './python/environment.ts'
import { pythonClient } from './scenario/languages.ts'
import { install } from './setup.ts'

t.setTimeout(600_000)
const { python, missing } = await pythonEnvironment(pythonClient.requirements)
const goClient = packageFile('generated/clients/go').pathname
const noGo = (await install('go', ['version'])) ?? (await install('go', ['-C', goClient, 'mod', 'download']))
const goModule = `module snippets\n\ngo 1.24\n\nrequire parley v0.1.0\n\nreplace parley => ${goClient}\n`

t.test("the documentation's Python snippets pass strict type checks", { skip: missing ?? false }, async (t) => {
  const folder = t.testdir()
  write('Python', t, (name) => path.join(folder, `${moduleOf(name)}.py`))
  const check = () => checkTypes(folder)
  t.match(await check(), /^Success/)
  spoil(path.join(folder, 'platform_createAgent.py'), '"name": "Front desk"', '"name": 1')
  t.match(await check(), /error: .*int.*/, 'a wrong snippet is found')
})

t.test("the documentation's Go snippets pass go vet and are formatted by gofmt", { skip: noGo ?? false }, async (t) => {
  const folder = t.testdir({ 'go.mod': goModule, 'go.sum': readFileSync(path.join(goClient, 'go.sum'), 'utf8') })
  write('Go', t, (name) => path.join(folder, moduleOf(name).toLowerCase(), 'main.go'))
  const vet = () => printedBy('go', ['vet', '-mod=mod', './...'], folder)
  t.equal(await vet(), '')
  t.equal(await printedBy('gofmt', ['-l', '.'], folder), '')
  spoil(path.join(folder, 'platform_createagent/main.go'), '"Front desk"', '1')
  t.match(await vet(), /cannot use 1 .* as string value/, 'a wrong snippet is found')
})

/** Writes all snippets in a language, each into a file. */
function write(language: string, t: Test, fileOf: (name: string) => string): void {
  const snippets = snippetsOf(language)
  t.equal(snippets.size, operations.length + contracts.flatMap(({ channels }) => channels).length)
  for (const [name, text] of snippets) {
    mkdirSync(path.dirname(fileOf(name)), { recursive: true })
    writeFileSync(fileOf(name), `${text}\n`)
  }
}

function spoil(file: string, right: string, wrong: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(right, wrong))
}

function moduleOf(name: string): string {
  return name.replaceAll(/\W/g, '_')
}

/** Checks the files of a folder with the package's settings. Returns the checker's output. */
function checkTypes(folder: string): Promise<string> {
  const options = ['--config-file', path.join(pythonClient.source, 'pyproject.toml'), '--cache-dir', `${folder}/cache`]
  return printedBy(python, ['-m', 'mypy', ...options, '.'], folder, { MYPYPATH: pythonClient.source })
}
