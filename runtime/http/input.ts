import { isUtf8 } from 'node:buffer'
import { type Input, Refusal } from '../engine/handler.ts'
import type { Head } from '../engine/head.ts'
import { renameHeader } from '../engine/head.ts'
import { parseJson } from '../engine/json.ts'
import type { Operation } from '../engine/operation.ts'
import { namedParams } from '../engine/path-tree.ts'
import { refuseParams } from '../engine/violation.ts'
import type { Endpoint } from './endpoint.ts'
import { readQuery } from './query.ts'

/**
 * Reads everything declared by the operation except the body. Throws Refusal `invalid_parameter` with the parameter's
 * name in the client's spelling.
 */
export function readInput(
  { operation }: Endpoint,
  params: readonly string[],
  query: string,
  head: Head,
  headerPrefix: string,
): Input {
  const path = namedParams(operation.pathParams, params)
  const input: Input = { path, query: readQuery(query, operation.query), header: head.declared, body: undefined }
  if (head.repeated !== null) {
    const param = spelled(operation, head.repeated, headerPrefix)
    throw new Refusal('invalid_parameter', { param, message: `${param} is sent more than once` })
  }
  for (const { name, bytesMax, isJson } of operation.headers) {
    const key = name.toLowerCase()
    const value = head.declared[key]
    if (value === undefined) continue
    // Values are latin1: a character is a byte.
    if (bytesMax !== undefined && value.length > bytesMax) {
      const param = renameHeader(name, headerPrefix)
      throw new Refusal('invalid_parameter', { param, message: `${param} is longer than ${bytesMax} bytes` })
    }
    if (isJson) input.header = { ...input.header, [key]: readJson(value, renameHeader(name, headerPrefix)) }
  }
  const { validateParams } = operation
  if (!validateParams || validateParams(input)) return input
  throw refuseParams(validateParams.errors, (lowerCase) => spelled(operation, lowerCase, headerPrefix))
}

/**
 * Parses a header with JSON. JSON is UTF-8 (RFC 8259, 8.1). Other bytes are read as Latin-1, because `fetch` writes
 * headers in Latin-1.
 */
function readJson(value: string, param: string): unknown {
  const bytes = Buffer.from(value, 'latin1')
  try {
    return parseJson(isUtf8(bytes) ? bytes.toString() : value)
  } catch {
    throw new Refusal('invalid_parameter', { param, message: `${param} is not valid JSON` })
  }
}

/** Returns the header's name in the spelling of this deployment's clients. */
function spelled({ headers }: Operation, lowerCase: string, headerPrefix: string): string {
  const declared = headers.find(({ name }) => name.toLowerCase() === lowerCase)
  return renameHeader(declared?.name ?? lowerCase, headerPrefix)
}
