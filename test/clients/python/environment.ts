/** Virtual environments for the Python programs, in a folder that git ignores. A new list of requirements makes one anew. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { here, install, modifiedMs } from '../setup.ts'

export type PythonEnvironment = { python: string; missing: string | null }

/** `requirements` is a file in this folder. `missing` is null, or the reason why nothing could be installed. */
export async function pythonEnvironment(requirements: string): Promise<PythonEnvironment> {
  const folder = path.join(here, '../../.cache', `python-${path.parse(requirements).name}`)
  const file = path.join(import.meta.dirname, requirements)
  const python = path.join(folder, 'bin/python')
  const complete = path.join(folder, 'complete')
  if (modifiedMs(complete) > modifiedMs(file)) return { python, missing: null }
  const missing =
    (await install('python3', ['-m', 'venv', '--clear', folder])) ??
    (await install(python, ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-r', file]))
  if (missing === null) await writeFile(complete, '')
  return { python, missing }
}
