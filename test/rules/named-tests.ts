/** Looks up tests that a document names. */
import { files, parse, titlesOf } from './source.ts'

const titles = new Map<string, readonly string[]>()

/** Returns the titles in `test/FILE.test.ts` without their backticks. */
function titlesIn(file: string): readonly string[] {
  const known = titles.get(file) ?? titlesOf(parse(file)).map((title) => title.replaceAll('`', ''))
  titles.set(file, known)
  return known
}

/** Returns true if a test exists. The name is a file and a title, as in `router/contract`: the title. */
export function isNamedTest(name: string): boolean {
  const [, file = '', title = ''] = /^`([a-z-]+\/[a-z0-9-]+)`: (.+)$/.exec(name) ?? []
  return isTestFile(file) && titlesIn(`test/${file}.test.ts`).includes(title)
}

/** Returns true if a file with tests exists. The name is as in router/contract. */
export const isTestFile = (name: string): boolean => files.includes(`test/${name}.test.ts`)
