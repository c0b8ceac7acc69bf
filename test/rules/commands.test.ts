/** Checks that every command with a result can print it as JSON, and that documents name only existing commands. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import type { Actions } from '../../cli/actions.ts'
import { examples } from '../../cli/examples.ts'
import { createProgram } from '../../cli/program.ts'

/** Commands without `--json`, each with the reason. */
const exceptions: Record<string, string> = {
  up: 'it serves until it is ended, and its log is JSON',
  mock: 'it serves until it is ended, and its answers are the result',
  demo: 'it shows a person what Parley does, and has no result',
}

function leaves(command: Command, name = ''): [string, Command][] {
  if (command.commands.length === 0) return [[name, command]]
  return command.commands.flatMap((each) => leaves(each, `${name} ${each.name()}`.trim()))
}

const program = createProgram({ version: '0.0.0' } as Actions)
const commands = leaves(program)

t.test('each command has --json, or is an exception with a reason', (t) => {
  const without = commands.filter(([, { options }]) => !options.some(({ long }) => long === '--json'))
  t.same(without.map(([name]) => name).sort(), Object.keys(exceptions).sort())
  t.ok(commands.length > 50, `${commands.length} commands`)
  t.end()
})

t.test('each command, argument and option has a description', (t) => {
  const shown = /^(email|organization|file)$/
  for (const [name, command] of commands) {
    t.ok(command.description(), name)
    for (const { long, description } of command.options) t.ok(description, `${name} ${long}`)
    for (const argument of command.registeredArguments)
      t.ok(argument.description || shown.test(argument.name()), `${name} ${argument.name()}`)
  }
  t.end()
})

const root = path.resolve(import.meta.dirname, '../..')
const folders = ['.', 'docs', 'docs/decisions', 'deploy', 'deploy/prometheus', 'deploy/systemd']
const documents = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder))
    // The changelog also names removed commands.
    .filter((name) => /\.(md|yaml|service|env)$|Dockerfile$/.test(name) && name !== 'CHANGELOG.md')
    .map((name) => path.join(folder, name)),
)

t.test('the commands and options in documents exist', (t) => {
  let found = 0
  for (const document of documents)
    for (const [, line = ''] of readFileSync(path.join(root, document), 'utf8').matchAll(
      /(?:^ *|[`(]|parley-\d )(?:parley|\.\/dist\/main\.js) ([a-z][^`\n]*)/gm,
    )) {
      found += 1
      t.equal(faultOf(line), null, `${document}: parley ${line}`)
    }
  t.ok(found > 60, `${found} lines`)
  t.equal(faultOf('org make Acme'), 'org has no make')
  t.equal(faultOf('org list --long'), 'org list has no --long')
  t.end()
})

/** These test files run the commands of several guides, and contain the lists of the guides. */
const listingTests = ['test/cli/document-commands.test', 'test/cli/guide-commands.test']
/**
 * The tests for other documents. Their paths are written without `.ts`, because tests.test.ts would take a full path
 * for a program started by this file.
 */
const runBy: Record<string, string> = {
  'README.md': 'test/clients/readme.test',
  'docs/embedded-speech.md': 'test/local/whisper-parts.test',
  'docs/media-socket.md': 'test/clients/media-bot.test',
  'docs/phone-calls.md': 'test/cli/phone-calls-page.test',
  'docs/run-it.md': 'test/deploy/production/main',
  'docs/tools.md': 'test/tools/guide.test',
}

t.test('the commands of each guide are run by a test', (t) => {
  const text = (file: string) => readFileSync(path.join(root, file), 'utf8')
  const guides = documents.filter((file) => /^(README|docs\/[a-z-]+)\.md$/.test(file))
  const withCommands = guides.filter((file) => /^ *```(?:sh|console)$/m.test(text(file)))
  t.ok(withCommands.length > 10)
  const listed = listingTests.map((test) => text(`${test}.ts`)).join('\n')
  for (const guide of withCommands) {
    const test = runBy[guide]
    if (test === undefined) t.ok(listed.includes(`'${path.basename(guide, '.md')}'`), `${guide} is in a list`)
    else t.ok(text(`${test}.ts`).includes(path.basename(guide)), `${guide} in ${test}`)
  }
  t.end()
})

t.test('the examples in --help are valid command lines of the command', (t) => {
  for (const [name, lines] of Object.entries(examples)) {
    for (const line of lines) {
      t.equal(faultOf(line.replace(/^parley /, '')), null, line)
      t.ok(line.includes(`parley ${name}`), line)
    }
    const [, command] = commands.find(([each]) => each === name) ?? []
    let help = ''
    command?.configureOutput({ writeOut: (text) => (help += text) }).outputHelp()
    t.ok(help.endsWith(`Examples:\n${lines.map((line) => `  ${line}\n`).join('')}`), help)
  }
  t.end()
})

t.test('docs/command-line.md lists every command', (t) => {
  const document = readFileSync(path.join(root, 'docs/command-line.md'), 'utf8')
  const [, list = ''] = /knows `([^`]*)`/.exec(document) ?? []
  const named = list.split(',').map((name) => name.trim().split(' ')[0])
  t.same(named.sort(), program.commands.map((command) => command.name()).sort())
  const [, without = ''] = /all but ([^;]*?) print JSON with `--json`/.exec(document) ?? []
  t.same([...without.matchAll(/`(\w+)`/g)].map(([, name]) => name).sort(), Object.keys(exceptions).sort())
  t.end()
})

/** Returns the first unknown word in a command line, or null. If a group is named alone, all its commands are meant. */
function faultOf(line: string): string | null {
  let command = program
  let name = ''
  for (const word of line.split(/\s+/).filter((word) => word !== '')) {
    if (word === '#' || word === '<' || word === '|') return null
    if (command.commands.length > 0) {
      const next = command.commands.find((each) => each.name() === word)
      if (next === undefined) return `${name || 'parley'} has no ${word}`
      command = next
      name = `${name} ${word}`.trim()
    }
    const [option = ''] = /^--[a-z-]+/.exec(word) ?? []
    if (option !== '' && !command.options.some(({ long }) => long === option)) return `${name} has no ${option}`
  }
  return null
}
