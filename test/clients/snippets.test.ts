/** The snippets of the documentation in Python have strict types with the generated client. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { contracts } from '../docs-pages/site.ts'
import { operations, snippetsOf } from '../docs-pages/snippet-texts.ts'
import { pythonEnvironment } from './python/environment.ts'
import { pythonClient } from './scenario/languages.ts'

t.setTimeout(600_000)
const { python, missing } = await pythonEnvironment(pythonClient.requirements)

t.test('the snippets in Python have strict types', { skip: missing ?? false }, async (t) => {
  const snippets = snippetsOf('Python')
  t.equal(snippets.size, operations.length + contracts.flatMap(({ channels }) => channels).length)
  const folder = t.testdir()
  for (const [name, text] of snippets) writeFileSync(path.join(folder, `${moduleOf(name)}.py`), `${text}\n`)
  t.match(await checkTypes(folder), /^Success/)
  const [name = '', text = ''] = [...snippets].find(([, each]) => each.includes('"name": "Front desk"')) ?? []
  writeFileSync(path.join(folder, `${moduleOf(name)}.py`), text.replace('"name": "Front desk"', '"name": 1'))
  t.match(await checkTypes(folder), /error: .*int.*/, 'a wrong snippet is found')
})

function moduleOf(name: string): string {
  return name.replaceAll(/\W/g, '_')
}

/** Checks the files of a folder with the package's settings. Returns what the checker says. */
async function checkTypes(folder: string): Promise<string> {
  const options = ['--config-file', path.join(pythonClient.source, 'pyproject.toml'), '--cache-dir', `${folder}/cache`]
  const env = { ...process.env, MYPYPATH: pythonClient.source }
  const check = promisify(execFile)(python, ['-m', 'mypy', ...options, '.'], { cwd: folder, env, timeout: 300_000 })
  return check.then(({ stdout }) => stdout).catch((error: Error & { stdout?: string }) => error.stdout || error.message)
}
