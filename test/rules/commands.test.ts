/** Every command of the command line that has a result prints it as JSON too. */
import type { Command } from 'commander'
import t from 'tap'
import type { Actions } from '../../cli/actions.ts'
import { createProgram } from '../../cli/program.ts'

/** Commands without `--json`, and why. */
const exceptions: Record<string, string> = {
  up: 'it serves until it is ended, and its log is JSON',
  demo: 'it shows a person what Parley does, and has no result',
}

function leaves(command: Command, name = ''): [string, Command][] {
  if (command.commands.length === 0) return [[name, command]]
  return command.commands.flatMap((each) => leaves(each, `${name} ${each.name()}`.trim()))
}

const commands = leaves(createProgram({ version: '0.0.0' } as Actions))

t.test('each command has --json, or is an exception with a reason', (t) => {
  const without = commands.filter(([, { options }]) => !options.some(({ long }) => long === '--json'))
  t.same(without.map(([name]) => name).sort(), Object.keys(exceptions).sort())
  t.ok(commands.length > 50, `${commands.length} commands`)
  t.end()
})

t.test('each command, argument and option says what it is', (t) => {
  const shown = /^(email|organization|file)$/
  for (const [name, command] of commands) {
    t.ok(command.description(), name)
    for (const { long, description } of command.options) t.ok(description, `${name} ${long}`)
    for (const argument of command.registeredArguments)
      t.ok(argument.description || shown.test(argument.name()), `${name} ${argument.name()}`)
  }
  t.end()
})
