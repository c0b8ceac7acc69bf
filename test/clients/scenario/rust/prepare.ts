/** Builds the client for Rust with its strictest checks, and the test program in Rust. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../../../runtime/package-file.ts'
import { emittedSnippets } from '../../emitted-snippets.ts'
import { install } from '../../setup.ts'

const run = promisify(execFile)
const buildMsMax = 1_800_000
const client = packageFile('generated/clients/rust').pathname
/** A folder ignored by git. Cargo would write its lock into the generated folder, so it works on a copy. */
export const rustWorkspace = packageFile('.cache/clients/rust').pathname
export const rustTarget = process.env['CARGO_TARGET_DIR'] ?? path.join(rustWorkspace, 'target')
export const rustEnvironment = { ...process.env, CARGO_TARGET_DIR: rustTarget }
export const rustProgram = path.join(rustTarget, 'debug/scenario')

const members = {
  parley: client,
  scenario: import.meta.dirname,
  tests: path.join(import.meta.dirname, '../../rust'),
}
/** Without debug information the build is smaller and faster. */
export const rustManifest = (names: readonly string[]) => `[workspace]
members = ${JSON.stringify(names)}
resolver = "3"

[profile.dev]
debug = false
incremental = false
`
/** The README's programs, in order. */
const programs = ['request', 'speech', 'socket', 'webhook']

/** Returns null, or the reason why the language is skipped. Code that does not compile is a failure. */
export async function prepareRust(): Promise<string | null> {
  const missing = (await install('cargo', ['--version'])) ?? (await install('cargo', ['clippy', '--version']))
  if (missing !== null) return missing
  writeWorkspace()
  const fetched = await install('cargo', ['fetch', '--manifest-path', path.join(rustWorkspace, 'Cargo.toml')])
  if (fetched !== null) return fetched
  await cargo('clippy', '--workspace', '--all-targets', '--locked', '--', '-D', 'warnings')
  await cargo('build', '--workspace', '--locked')
  return null
}

/** Runs cargo over the client and the program. Clippy's warnings are failures. */
export async function cargo(...args: readonly string[]): Promise<string> {
  const options = { cwd: rustWorkspace, env: rustEnvironment, timeout: buildMsMax }
  const { stdout } = await run('cargo', args, options)
  return stdout
}

/** The lock pins all crates for the client and the programs. */
function writeWorkspace(): void {
  mkdirSync(rustWorkspace, { recursive: true })
  for (const [name, source] of Object.entries(members)) {
    rmSync(path.join(rustWorkspace, name), { recursive: true, force: true })
    cpSync(source, path.join(rustWorkspace, name), { recursive: true, preserveTimestamps: true })
  }
  const readme = readFileSync(path.join(client, 'README.md'), 'utf8')
  const texts = [...readme.matchAll(/^```rust\n([^]*?)^```/gm)].map(([, text = '']) => text)
  if (texts.length !== programs.length) throw new Error(`the README has ${texts.length} programs`)
  for (const [place, name] of programs.entries())
    writeFileSync(path.join(rustWorkspace, 'tests', `${name}.rs`), texts[place] ?? '')
  writeSnippets(path.join(rustWorkspace, 'tests/snippets'))
  cpSync(path.join(import.meta.dirname, 'Cargo.lock'), path.join(rustWorkspace, 'Cargo.lock'))
  cpSync(path.join(client, 'rustfmt.toml'), path.join(rustWorkspace, 'rustfmt.toml'))
  writeFileSync(path.join(rustWorkspace, 'Cargo.toml'), rustManifest(Object.keys(members)))
}

/** Each program in the documentation is a module, so the compiler reads the client only once. */
function writeSnippets(folder: string): void {
  const modules = [...emittedSnippets('rust')].map(([name, program]) => [name.toLowerCase(), program] as const)
  mkdirSync(folder)
  for (const [name, program] of modules) writeFileSync(path.join(folder, `${name}.rs`), program)
  const names = modules.map(([name]) => `#[rustfmt::skip]\nmod ${name};\n`)
  writeFileSync(path.join(folder, 'main.rs'), `#![allow(dead_code, deprecated)]\n${names.join('')}\nfn main() {}\n`)
}
