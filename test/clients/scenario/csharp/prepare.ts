/** Builds the client for C# without an SDK, and then the test program in C#. */
import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../../../runtime/package-file.ts'
import { pythonEnvironment, pythonOf } from '../../python/environment.ts'
import { installNodeClients } from '../../setup.ts'

const run = promisify(execFile)
const buildMsMax = 600_000
/** The runtime of .NET comes from PyPI, and the compiler from npm. */
const requirements = 'csharp.txt'
const compiler = path.join(import.meta.dirname, '../../csharp/compile.py')
export const csharpClient = packageFile('generated/clients/csharp').pathname
/** A folder ignored by git. */
export const csharpBuild = packageFile('.cache/clients/csharp').pathname
export const csharpLibrary = path.join(csharpBuild, 'Parley.dll')
export const csharpProgram = path.join(csharpBuild, 'Scenario.dll')

/** Returns null, or the reason why the language is skipped. Code that does not compile is a failure. */
export async function prepareCsharp(): Promise<string | null> {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the runtime of .NET from PyPI is for Linux on x64'
  const missing = (await pythonEnvironment(requirements)).missing ?? (await installNodeClients('csharp'))
  if (missing !== null) return missing
  // The package from PyPI does not keep the permission.
  chmodSync(dotnet(), 0o755)
  mkdirSync(csharpBuild, { recursive: true })
  await compile(csharpLibrary, filesIn(csharpClient), ['--library'])
  await compile(csharpProgram, filesIn(import.meta.dirname), ['--reference', csharpLibrary])
  return null
}

/** Compiles files. A warning is a failure. */
export async function compile(target: string, files: readonly string[], more: readonly string[]): Promise<void> {
  await run(pythonOf(requirements), [compiler, target, ...more, ...files], { timeout: buildMsMax })
}

export function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter(({ name }) => name.endsWith('.cs')).map(({ parentPath, name }) => path.join(parentPath, name))
}

/** The path of the program that runs .NET programs. */
export function dotnet(): string {
  const libraries = path.join(path.dirname(pythonOf(requirements)), '../lib')
  const python = readdirSync(libraries).find((name) => name.startsWith('python')) ?? ''
  return path.join(libraries, python, 'site-packages/dnv/net/runtime/.net/dotnet')
}
