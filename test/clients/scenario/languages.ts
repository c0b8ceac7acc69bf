/** The clients' languages. Each has a program in this folder, which prints a line for each step. */
import path from 'node:path'

export type Language = {
  name: string
  /** Builds or installs the program's parts. Returns null, or the reason why the language is skipped. */
  prepare: () => Promise<string | null>
  /** The command and its arguments. */
  run: readonly [command: string, ...args: string[]]
}

const file = (name: string) => path.join(import.meta.dirname, name)

export const languages: readonly Language[] = [
  {
    name: 'TypeScript',
    prepare: () => Promise.resolve(null),
    run: [process.execPath, '--import=tsx', file('typescript/main.ts')],
  },
]
