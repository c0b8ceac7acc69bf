/**
 * Makes virtual environments for the Python programs, in a folder ignored by git. A changed requirements list makes a
 * new environment.
 */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { here, install, installTimeoutMs, modifiedMs } from '../setup.ts'

// Python stores the compiled form of each module at its first import, so an installation need not compile all modules.
delete process.env.PYTHONDONTWRITEBYTECODE
const pipInstall = ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--no-compile']

export type PythonEnvironment = { python: string; missing: string | null }

/** Installs `requirements`, a file in this folder. `missing` is null, or the reason why the installation failed. */
export async function pythonEnvironment(requirements: string): Promise<PythonEnvironment> {
  const folder = folderOf(requirements)
  const file = path.join(import.meta.dirname, requirements)
  const python = pythonOf(requirements)
  const complete = path.join(folder, 'complete')
  const missing = await oneAtATime(`${folder}.lock`, async () => {
    if (modifiedMs(complete) > modifiedMs(file)) return null
    const failed =
      (await install('python3', ['-m', 'venv', '--clear', folder])) ??
      (await install(python, [...pipInstall, '-r', file]))
    if (failed === null) await writeFile(complete, '')
    return failed
  })
  return { python, missing }
}

/** The path of the environment's Python, before or after the installation. */
export function pythonOf(requirements: string): string {
  return path.join(folderOf(requirements), 'bin/python')
}

function folderOf(requirements: string): string {
  return path.join(here, '../../.cache', `python-${path.parse(requirements).name}`)
}

/**
 * Does the work while no other process does. Two test files share one environment but run in two processes. The folder
 * `lock` exists while one process is at work.
 */
async function oneAtATime<T>(lock: string, work: () => Promise<T>): Promise<T> {
  await mkdir(path.dirname(lock), { recursive: true })
  while (!(await taken(lock))) await setTimeout(500)
  try {
    return await work()
  } finally {
    await rm(lock, { recursive: true, force: true })
  }
}

async function taken(lock: string): Promise<boolean> {
  // If the lock is this old, an interrupted run has left it.
  if (Date.now() - modifiedMs(lock) > 2 * installTimeoutMs) await rm(lock, { recursive: true, force: true })
  return mkdir(lock).then(
    () => true,
    () => false,
  )
}
