/** The clients' languages. For each there is a test program in this folder, which prints a JSON line for each step. */
import path from 'node:path'
import { pythonEnvironment, pythonOf } from '../python/environment.ts'
import { goProgram, prepareGo } from './go/prepare.ts'

export type Language = {
  name: string
  /** Builds the test program or installs its packages. Returns null, or the reason why the language is skipped. */
  prepare: () => Promise<string | null>
  /** The command and its arguments. */
  run: readonly [command: string, ...args: string[]]
}

/** The requirements of the client in Python, and the folder of its package. */
export const pythonClient = {
  requirements: 'client.txt',
  source: path.join(import.meta.dirname, '../../../generated/clients/python'),
}

const file = (name: string) => path.join(import.meta.dirname, name)

export const languages: readonly Language[] = [
  {
    name: 'TypeScript',
    prepare: () => Promise.resolve(null),
    run: [process.execPath, '--import=tsx', file('typescript/main.ts')],
  },
  {
    name: 'Python',
    prepare: async () => (await pythonEnvironment(pythonClient.requirements)).missing,
    // Python must not write its cache into the generated folder.
    run: [
      'env',
      `PYTHONPATH=${pythonClient.source}`,
      pythonOf(pythonClient.requirements),
      '-B',
      file('python/main.py'),
    ],
  },
  { name: 'Go', prepare: prepareGo, run: [goProgram] },
]
