/** Shell scripts to complete commands and options. They contain this version's commands, so Tab starts no process. */
import type { Command, Option } from 'commander'
import { UsageError } from './command-error.ts'

const shells = { bash, zsh, fish } as const

export function completion(program: Command): void {
  program
    .command('completion')
    .description('print a script for Tab: `source <(parley completion bash)`')
    .argument('<shell>', Object.keys(shells).join(', '))
    .option('--json', 'print the words that follow each command as JSON', false)
    .action((shell: string, { json }: { json: boolean }) => {
      const words = wordsOf(program)
      if (!Object.hasOwn(shells, shell)) throw new UsageError(`${shell} is none of ${Object.keys(shells).join(', ')}`)
      console.log(json ? JSON.stringify(Object.fromEntries(words)) : shells[shell as keyof typeof shells](words))
    })
}

/** The subcommands and options that may follow each command. The program itself has the empty name. */
type Words = ReadonlyMap<string, readonly string[]>

function wordsOf(program: Command): Words {
  const shared = program.options.flatMap(longOf)
  const words = new Map<string, string[]>()
  const add = (command: Command, name: string) => {
    const below = command.commands.map((each) => each.name())
    words.set(name, [...below, ...command.options.flatMap(longOf), ...(command === program ? [] : shared), '--help'])
    for (const each of command.commands) add(each, `${name} ${each.name()}`.trim())
  }
  add(program, '')
  return words
}

const longOf = ({ long, hidden }: Option) => (hidden || !long || long === '--version' ? [] : [long])

/**
 * Writes the script for bash. It follows the typed words through the command tree. If a word is not a command, such as
 * an option's value, the position in the tree does not change.
 */
function bash(words: Words): string {
  const cases = [...words].map(([name, next]) => `    '${name}') words='${next.join(' ')}' ;;`)
  const commands = [...words.keys()].filter((name) => name !== '').map((name) => `'${name}'`)
  return [
    '_parley() {',
    "  local at='' next word words=''",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    next="${at:+$at }$word"',
    `    case "$next" in ${commands.join('|')}) at="$next" ;; esac`,
    '  done',
    '  case "$at" in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -F _parley parley',
  ].join('\n')
}

function zsh(words: Words): string {
  return ['autoload -U +X compinit && compinit', 'autoload -U +X bashcompinit && bashcompinit', bash(words)].join('\n')
}

function fish(words: Words): string {
  const lines = [...words].flatMap(([name, next]) => {
    const seen = name === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${name.split(' ').at(-1)}`
    return next.map((word) =>
      word.startsWith('--')
        ? `complete -c parley -n '${seen}' -l ${word.slice(2)}`
        : `complete -c parley -f -n '${seen}' -a '${word}'`,
    )
  })
  return lines.join('\n')
}
