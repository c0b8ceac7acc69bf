#!/usr/bin/env -S node --min-semi-space-size=16 --max-semi-space-size=32
/** The program `parley`: the commands in cli/ over the product in app/. */
import { createActions } from './app/commands/actions.ts'
import { outcomeOf } from './cli/outcome.ts'
import { createProgram } from './cli/program.ts'

// Workers run this file's build: when they are started again, the link `dist` may point to a newer build.
process.argv[1] = import.meta.filename

// The reader of a pipe can close it before all is written: `parley respond - | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
try {
  await createProgram(createActions(process.env)).parseAsync()
  // A library's open handle (a timer, an idle socket) must not keep a finished command alive.
  process.exit()
} catch (error) {
  const { code, words } = outcomeOf(error)
  if (words !== null) console.error(words)
  process.exit(code)
}
