/** The programs of the documentation that are generated with a client. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../runtime/package-file.ts'

type BySurface = Record<string, Record<string, string>>

/** Returns the programs in a language by surface and operation or channel: `platform_createAgent`. */
export function emittedSnippets(language: string): Map<string, string> {
  const file = packageFile(`generated/snippets/${language}.json`)
  const { '//': _banner, ...surfaces } = JSON.parse(readFileSync(file, 'utf8')) as BySurface
  const programs = Object.entries(surfaces).flatMap(([surface, each]) =>
    Object.entries(each).map(([name, program]): [string, string] => [`${surface}_${name}`, program]),
  )
  return new Map(programs)
}
