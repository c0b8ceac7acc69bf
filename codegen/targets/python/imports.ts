/** Prints a generated module's imports: only the names in its text, sorted and grouped as ruff does. */
import { lineMax } from './print.ts'

/** The names to import from each module. */
export type Modules = readonly (readonly [module: string, names: readonly string[]])[]

/** `more` is an additional import line, printed last among the imports from this package. */
export function printImports(modules: Modules, text: string, more = ''): string {
  const lines = modules.flatMap(([module, names]) => {
    const used = names.filter((name) => uses(text, name))
    return used.length === 0 ? [] : [{ group: groupOf(module), line: printImport(module, used) }]
  })
  const group = (wanted: Group) =>
    lines
      .filter(({ group }) => group === wanted)
      .map(({ line }) => line)
      .join('')
  const groups = [group('standard'), group('package'), group('own') + more].filter((each) => each !== '')
  return `from __future__ import annotations\n\n${groups.join('\n')}`
}

/** Prints an import on one line if it fits, else with one name on each line. */
export function printImport(module: string, names: readonly string[]): string {
  const oneLine = `from ${module} import ${names.join(', ')}\n`
  if (oneLine.length - 1 <= lineMax) return oneLine
  return `from ${module} import (\n${names.map((name) => `    ${name},\n`).join('')})\n`
}

type Group = 'standard' | 'package' | 'own'

function groupOf(module: string): Group {
  if (module.startsWith('.')) return 'own'
  return module === 'typing_extensions' ? 'package' : 'standard'
}

/** True if the text uses the name as code. A word in a docstring has other characters around it. */
function uses(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w"\`.])${name}(?=[\\[(),:\\]| ]|$)`, 'm').test(text)
}
