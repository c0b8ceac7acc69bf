/** The command line checks numbers and file names before it sends a request. */
import type { Command, Option } from 'commander'
import t from 'tap'
import type { Actions } from '../../cli/actions.ts'
import { UsageError } from '../../cli/command-error.ts'
import { createProgram } from '../../cli/program.ts'
import { runAlone } from '../command.ts'

type Path = [name: string, command: Command]

function commandsOf(command: Command, name = ''): Path[] {
  return command.commands.flatMap((each) => {
    const path = `${name} ${each.name()}`.trim()
    return [[path, each] satisfies Path, ...commandsOf(each, path)]
  })
}

/** `<number>` is a phone number in the flags of other options. */
const isNumber = /<(count|seconds|port|factor)>$|--(port|seed) <number>$/

t.test('each option with a number refuses other texts', (t) => {
  const program = createProgram({ version: '0' } as Actions)
  const options = commandsOf(program).flatMap(([name, { options }]) =>
    options.filter(({ flags }) => isNumber.test(flags)).map((option) => ({ name, option })),
  )
  t.ok(options.length >= 10, `there are ${options.length} such options`)
  for (const { name, option } of options)
    for (const text of ['banana', '', '-1', '1.5.5', '9'.repeat(400)])
      t.ok(refuses(option, text), `${name} ${option.flags}`)
  t.end()
})

function refuses(option: Option, text: string): boolean {
  try {
    option.parseArg?.(text, undefined)
    return false
  } catch (error) {
    return error instanceof UsageError
  }
}

t.test('a wrong number and a file that cannot be written are usage errors', async (t) => {
  for (const [args, message] of [
    [['calls', 'list', '--limit', 'banana'], '--limit takes a whole number from 1 to 200, not banana'],
    [['bundle', 'call', '--out', '/nonexistent/call.tar'], '--out: there is no folder /nonexistent'],
    [['bundle', 'call', '--out', '/'], '--out: / is a folder; name a file'],
    [['conform', '--key', 'sk', '--junit', '/nonexistent/report.xml'], '--junit: there is no folder /nonexistent'],
  ] as const) {
    const { code, stderr } = await runAlone([...args], {})
    t.equal(code, 2)
    t.equal(stderr, `parley: ${message}\n`)
  }
})
