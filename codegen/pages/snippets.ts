/**
 * The languages of the snippets. A new language needs one row in this file, and one file in this folder or in
 * codegen/targets.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Channel, Contract, Operation } from './contract.ts'
import { curlRequest } from './curl.ts'
import { fence, section } from './markdown.ts'
import { pythonRequest, pythonSocket } from './python.ts'
import { type Sample, sampleOf } from './sample.ts'
import { typescriptRequest, typescriptSocket } from './typescript.ts'

export type Language = {
  name: string
  /** The language's name in a code block. */
  fence: string
  /** Writes code to send a request. */
  request: (sample: Sample) => string
  /** Writes code to open a socket. Null if the language has no WebSocket client in its usual tools. */
  socket: ((channel: Channel, contract: Contract) => string) | null
}

/** Returns the languages in the order of the pages. `root` is the repository, which has the emitted snippets. */
export function languagesIn(root: string): Language[] {
  return [
    { name: 'curl', fence: 'sh', request: curlRequest, socket: null },
    { name: 'TypeScript', fence: 'ts', request: typescriptRequest, socket: typescriptSocket },
    { name: 'Python', fence: 'python', request: pythonRequest, socket: pythonSocket },
    emitted('Go', 'go', root),
    emitted('Java', 'java', root),
    emitted('Rust', 'rust', root),
    emitted('C#', 'csharp', root),
  ]
}

/**
 * Reads the snippets that codegen/targets emits together with the client. In these languages a program must name each
 * type, and only the client model has the types' names.
 */
function emitted(name: string, language: string, root: string): Language {
  const file = path.join(root, `generated/snippets/${language}.json`)
  const bySurface = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>
  return {
    name,
    fence: language,
    request: ({ surface, operation }) => bySurface[surface]?.[operation.id] ?? '',
    socket: ({ id }, { name: surface }) => bySurface[surface]?.[id] ?? '',
  }
}

export function requestSnippets(contract: Contract, operation: Operation, languages: readonly Language[]): string {
  const sample = sampleOf(contract, operation)
  return section(
    '## Code',
    ...languages.map(({ name, fence: language, request }) => section(`### ${name}`, fence(language, request(sample)))),
  )
}

export function socketSnippets(contract: Contract, channel: Channel, languages: readonly Language[]): string {
  const rows = languages.flatMap(({ name, fence: language, socket }) =>
    socket === null ? [] : [section(`### ${name}`, fence(language, socket(channel, contract)))],
  )
  return section('## Code', ...rows)
}
