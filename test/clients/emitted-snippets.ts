/** The programs of the documentation that are generated with a client. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../runtime/package-file.ts'

type BySurface = Record<string, Record<string, string>>

/** Returns the programs in a language by surface and operation or channel: `platform_createAgent`. */
export function emittedSnippets(language: string): Map<string, string> {
  const file = packageFile(`generated/snippets/${language}.json`)
  const surfaces = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as BySurface)
  const programs = surfaces.flatMap(([surface, each]) =>
    // The first field is a comment.
    surface === '//' ? [] : Object.entries(each).map(([name, program]) => [`${surface}_${name}`, program] as const),
  )
  return new Map(programs)
}
