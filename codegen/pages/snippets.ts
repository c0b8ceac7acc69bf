/** The languages of the snippets. A further language is one row here and one file. */
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
  /** Writes a request. */
  request: (sample: Sample) => string
  /** Opens a socket. Null if the language has no socket in its usual tools. */
  socket: ((channel: Channel, contract: Contract) => string) | null
}

export const languages: readonly Language[] = [
  { name: 'curl', fence: 'sh', request: curlRequest, socket: null },
  { name: 'TypeScript', fence: 'ts', request: typescriptRequest, socket: typescriptSocket },
  { name: 'Python', fence: 'python', request: pythonRequest, socket: pythonSocket },
]

export function requestSnippets(contract: Contract, operation: Operation): string {
  const sample = sampleOf(contract, operation)
  return section(
    '## Code',
    ...languages.map(({ name, fence: language, request }) => section(`### ${name}`, fence(language, request(sample)))),
  )
}

export function socketSnippets(contract: Contract, channel: Channel): string {
  const rows = languages.flatMap(({ name, fence: language, socket }) =>
    socket === null ? [] : [section(`### ${name}`, fence(language, socket(channel, contract)))],
  )
  return section('## Code', ...rows)
}
