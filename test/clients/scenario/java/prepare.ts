/** Builds the client for Java with its strictest checks, and then the test program in Java. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { packageFile } from '../../../../runtime/package-file.ts'
import { install } from '../../setup.ts'

const run = promisify(execFile)
const buildMsMax = 600_000
export const javaClient = packageFile('generated/clients/java').pathname
/** A folder ignored by git. */
const cache = packageFile('.cache/clients/java').pathname
const jars = path.join(cache, 'lib')
const clientClasses = path.join(cache, 'client')
const programClasses = path.join(cache, 'scenario')
/** The client's classes and Jackson's. */
export const javaClassPath = [clientClasses, path.join(jars, '*')].join(path.delimiter)
export const javaProgram = ['-cp', [programClasses, javaClassPath].join(path.delimiter), 'scenario.Main'] as const

/** Returns null, or the reason why the language is skipped. Code that does not compile is a failure. */
export async function prepareJava(): Promise<string | null> {
  const missing = (await install('javac', ['-version'])) ?? (await installJackson())
  if (missing !== null) return missing
  await compile(path.join(javaClient, 'src/main/java'), clientClasses, path.join(jars, '*'))
  await compile(import.meta.dirname, programClasses, javaClassPath)
  return null
}

/** The client's own pom.xml names the version. */
function installJackson(): Promise<string | null> {
  const pom = path.join(javaClient, 'pom.xml')
  return install('mvn', ['dependency:copy-dependencies', '-q', '-B', '-f', pom, `-DoutputDirectory=${jars}`])
}

/** Compiles a folder's files. A warning is a failure, apart from warnings that `more` turns off. */
export async function compile(
  source: string,
  target: string,
  classPath: string,
  more: readonly string[] = [],
): Promise<void> {
  const entries = readdirSync(source, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.name.endsWith('.java'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  const strict = ['-Xlint:all', '-Werror', '-proc:none', '-encoding', 'UTF-8', '--release', '17']
  await run('javac', [...strict, ...more, '-cp', classPath, '-d', target, ...files], { timeout: buildMsMax })
}
