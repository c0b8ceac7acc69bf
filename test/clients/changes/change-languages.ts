/** Compiles and runs the test programs in test/clients/scenario with the clients for a changed contract. */
import { execFile } from 'node:child_process'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../../runtime/package-file.ts'
import { pythonEnvironment, pythonOf } from '../python/environment.ts'
import { prepareGo } from '../scenario/go/prepare.ts'
import { pythonClient } from '../scenario/languages.ts'
import { prepareRust, rustEnvironment, rustManifest, rustProgram } from '../scenario/rust/prepare.ts'
import { failureOf } from './changed-tree.ts'
import type { LanguageName } from './contract-changes.ts'

export type ChangeLanguage = {
  name: LanguageName
  /** Returns null, or the reason why the language is skipped. */
  prepare: () => Promise<string | null>
  /**
   * Compiles the test program in a changed copy of the repository, in the language's strictest mode. Returns null, or
   * the compiler's output.
   */
  compile: (tree: string) => Promise<string | null>
  /** The command and its arguments. */
  run: (tree: string) => readonly [command: string, ...args: string[]]
}

const run = promisify(execFile)
const compileMsMax = 600_000
/** Compilers keep their results for unchanged files here. */
const cache = (name: string) => packageFile(`.cache/client-changes/${name}`).pathname
const scenario = (tree: string, place: string) => path.join(tree, 'test/clients/scenario', place)
const pythonPackage = (tree: string) => path.join(tree, 'generated/clients/python')
const goProgram = cache('scenario-go')

export const changeLanguages: readonly ChangeLanguage[] = [
  {
    name: 'TypeScript',
    prepare: () => Promise.resolve(null),
    compile: (tree) => failureOf(compileTypeScript(tree)),
    run: (tree) => [process.execPath, '--import=tsx', scenario(tree, 'typescript/main.ts')],
  },
  {
    name: 'Python',
    prepare: async () => (await pythonEnvironment(pythonClient.requirements)).missing,
    compile: (tree) => failureOf(checkPython(tree)),
    run: (tree) => [
      'env',
      `PYTHONPATH=${pythonPackage(tree)}`,
      pythonOf(pythonClient.requirements),
      '-B',
      scenario(tree, 'python/main.py'),
    ],
  },
  {
    name: 'Go',
    prepare: prepareGo,
    compile: (tree) =>
      failureOf(run('go', ['build', '-o', goProgram, '.'], { cwd: scenario(tree, 'go'), timeout: compileMsMax })),
    run: () => [goProgram],
  },
  {
    name: 'Rust',
    prepare: prepareRust,
    compile: (tree) => failureOf(compileRust(tree)),
    run: () => [rustProgram],
  },
]

/** The packages that the client needs are compiled already, because the target is that of the unchanged client. */
function compileRust(tree: string): Promise<unknown> {
  const workspace = cache('rust')
  const sources = { parley: path.join(tree, 'generated/clients/rust'), scenario: scenario(tree, 'rust') }
  rmSync(workspace, { recursive: true, force: true })
  for (const [name, source] of Object.entries(sources))
    cpSync(source, path.join(workspace, name), { recursive: true, preserveTimestamps: true })
  cpSync(scenario(tree, 'rust/Cargo.lock'), path.join(workspace, 'Cargo.lock'))
  writeFileSync(path.join(workspace, 'Cargo.toml'), rustManifest(Object.keys(sources)))
  const options = { cwd: workspace, env: rustEnvironment, timeout: compileMsMax }
  return run('cargo', ['build', '--offline', '--package', 'scenario'], options)
}

function compileTypeScript(tree: string): Promise<unknown> {
  const settings = {
    extends: packageFile('tsconfig.json').pathname,
    compilerOptions: { rootDir: '.', incremental: true, tsBuildInfoFile: cache('typescript.json') },
    include: ['test/clients/scenario/typescript'],
  }
  writeFileSync(path.join(tree, 'tsconfig.json'), JSON.stringify(settings))
  const compiler = packageFile('node_modules/typescript/bin/tsc').pathname
  return run(process.execPath, [compiler, '-p', tree], { timeout: compileMsMax })
}

function checkPython(tree: string): Promise<unknown> {
  const settings = path.join(pythonPackage(tree), 'pyproject.toml')
  const options = ['-m', 'mypy', '--config-file', settings, '--cache-dir', cache('mypy'), '.']
  const env = { ...process.env, MYPYPATH: pythonPackage(tree) }
  return run(pythonOf(pythonClient.requirements), options, {
    cwd: scenario(tree, 'python'),
    env,
    timeout: compileMsMax,
  })
}
