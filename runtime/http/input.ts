import type { Endpoint } from './endpoint.ts'
import type { Head } from './framing.ts'
import { type Input, Refusal } from './handler.ts'
import { renameHeader } from './header-names.ts'
import type { Operation } from './operation.ts'
import { decode, readQuery } from './query.ts'
import { refuseParams } from './violation.ts'

/** Everything of a request but its body, as the operation declares it. Throws Refusal `invalid_parameter` that names the parameter as clients spell it. */
export function readInput(
  { operation }: Endpoint,
  params: readonly string[],
  query: string,
  head: Head,
  headerPrefix: string,
): Input {
  const path: Record<string, string> = {}
  for (const [at, name] of operation.pathParams.entries()) path[name] = decode(params[at] ?? '', name)
  const input: Input = { path, query: readQuery(query, operation.query), header: head.declared, body: undefined }
  if (head.repeated !== null) {
    const param = spelled(operation, head.repeated, headerPrefix)
    throw new Refusal('invalid_parameter', { param, message: `${param} is sent more than once` })
  }
  for (const { name, bytesMax } of operation.headers) {
    const value = head.declared[name.toLowerCase()]
    // Values are latin1: a character is a byte.
    if (bytesMax === undefined || value === undefined || value.length <= bytesMax) continue
    const param = renameHeader(name, headerPrefix)
    throw new Refusal('invalid_parameter', { param, message: `${param} is longer than ${bytesMax} bytes` })
  }
  const { validateParams } = operation
  if (!validateParams || validateParams(input)) return input
  throw refuseParams(validateParams.errors, (lowerCase) => spelled(operation, lowerCase, headerPrefix))
}

/** As clients of this deployment write it. */
function spelled({ headers }: Operation, lowerCase: string, headerPrefix: string): string {
  const declared = headers.find(({ name }) => name.toLowerCase() === lowerCase)
  return renameHeader(declared?.name ?? lowerCase, headerPrefix)
}
