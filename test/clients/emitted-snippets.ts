/** Reads the code snippets in the documentation. The generator writes them together with each client. */
import { readFileSync } from 'node:fs'
import { packageFile } from '../../runtime/package-file.ts'

type BySurface = Record<string, Record<string, string>>

/** Returns the snippets in a language by API and operation or channel, such as `platform_createAgent`. */
export function emittedSnippets(language: string): Map<string, string> {
  const file = packageFile(`generated/snippets/${language}.json`)
  const surfaces = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as BySurface)
  const programs = surfaces.flatMap(([surface, each]) =>
    // The first field is a comment.
    surface === '//' ? [] : Object.entries(each).map(([name, program]) => [`${surface}_${name}`, program] as const),
  )
  return new Map(programs)
}
