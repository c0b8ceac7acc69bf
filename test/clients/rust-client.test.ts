/** The client for Rust: its form, the programs in its README, its package, and how it writes and reads values. */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { contracts } from '../docs-pages/site.ts'
import { operations } from '../docs-pages/snippet-texts.ts'
import { ownServer } from '../server.ts'
import { emittedSnippets } from './emitted-snippets.ts'
import { printedBy } from './printed.ts'
import { cargo, prepareRust, rustEnvironment, rustTarget, rustWorkspace } from './scenario/rust/prepare.ts'
import { install } from './setup.ts'

const run = promisify(execFile)
const limitMs = 600_000

t.setTimeout(10 * limitMs)
const noRust = await prepareRust()
const skip = noRust ?? false
const noFormat = noRust ?? (await install('cargo', ['fmt', '--version']))

t.test('the client for Rust is formatted by rustfmt', { skip: noFormat ?? false }, async (t) => {
  t.equal(await printedBy('cargo', ['fmt', '--all', '--check'], rustWorkspace), '')
})

t.test('the first two programs in the README run', { skip }, async (t) => {
  const parley = await ownServer(t)
  const env = { ...rustEnvironment, PARLEY_URL: parley.url, PARLEY_API_KEY: parley.key }
  const options = { cwd: t.testdir(), env, timeout: limitMs }
  t.match((await run(path.join(rustTarget, 'debug/request'), options)).stdout, /^(stt|tts|llm) \w+/m)
  t.match((await run(path.join(rustTarget, 'debug/speech'), options)).stdout, /all lines are open/i)
})

t.test('the documentation has a snippet for each operation and socket, which Clippy has checked', { skip }, (t) => {
  t.equal(emittedSnippets('rust').size, operations.length + contracts.flatMap(({ channels }) => channels).length)
  t.end()
})

t.test('the package has all files that a registry needs', { skip }, async (t) => {
  const files = (await cargo('package', '--package', 'parley', '--allow-dirty', '--list')).split('\n')
  for (const name of ['Cargo.toml', 'LICENSE', 'README.md', 'src/lib.rs']) t.ok(files.includes(name), name)
})

t.test('the client for Rust passes its tests', { skip }, async (t) => {
  t.match(await cargo('test', '--package', 'client-tests', '--test', 'values'), /^test result: ok\./m)
})
