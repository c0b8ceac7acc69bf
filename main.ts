#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=32
/** The program `parley`: the commands in cli/ over the product in app/. */
import { createActions } from './app/commands/actions.ts'
import { outcomeOf } from './cli/outcome.ts'
import { createProgram } from './cli/program.ts'

// The link `dist` in the path can point to a newer build when workers are started again: they run the build of this file.
process.argv[1] = import.meta.filename

// The reader of a pipe can close it before all is written: `parley respond - | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
try {
  await createProgram(createActions(process.env)).parseAsync()
  // An open handle of a library (a timer, an idle socket) must not keep a finished command alive.
  process.exit()
} catch (error) {
  const { code, words } = outcomeOf(error)
  if (words !== null) console.error(words)
  process.exit(code)
}
