/** Finds or installs Debian programs for tests. If one is missing, the test is skipped and does not fail. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'

const installMs = 90_000

/** Returns false if the program exists or could be installed, else the reason to skip the test. */
export async function missingProgram(name: string, debianPackage: string): Promise<string | false> {
  if (findProgram(name) !== null) return false
  if (process.getuid?.() !== 0)
    return `there is no ${name} in PATH, and installing Debian's ${debianPackage} needs root`
  const failure = await install(debianPackage)
  return findProgram(name) === null ? `there is no ${name} in PATH, and apt-get does not install it: ${failure}` : false
}

export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null
}

/** Installs a package. Returns the reason if that fails. RUNLEVEL keeps the package from starting its service. */
async function install(name: string): Promise<string> {
  const env = { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' }
  const args = ['-o', 'DPkg::Lock::Timeout=60', 'install', '-y', '--no-install-recommends', name]
  try {
    await promisify(execFile)('apt-get', args, { env, timeout: installMs })
    return ''
  } catch (error) {
    return (error as Error).message.split('\n').find((line) => line.startsWith('E:')) ?? 'apt-get failed'
  }
}
