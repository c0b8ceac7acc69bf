/** The documents that a server serves, each with the same document from this release. */
import type { OpenAPIBackend, Document as OracleDocument } from 'openapi-backend'
import { ContractValidators } from '../codegen/contract-validators.ts'
import { compatContract } from '../generated/compat/contract.ts'
import { platformContract } from '../generated/platform/contract.ts'
import { realtimeContract } from '../generated/realtime/contract.ts'
import { routerContract } from '../generated/router/contract.ts'
import { sessionContract } from '../generated/session/contract.ts'
import { type Channel, channelsOf, type Document, type ErrorRow, type Operation, operationsOf } from './contract.ts'
import { readDocument } from './documents.ts'
import { prefixIn } from './header-prefix.ts'
import { createOracle } from './oracle.ts'

/** The served documents: name, path, and the document as JSON in this release. */
export const released = [
  ['router', '/router/openapi.json', routerContract],
  ['compat', '/openapi/compat.json', compatContract],
  ['platform', '/openapi/platform.json', platformContract],
  ['realtime', '/asyncapi/realtime.json', realtimeContract],
  ['session', '/asyncapi/session.json', sessionContract],
] as const

export type Surface = {
  name: string
  document: Document
  /** The faults that were found while the document was read. */
  faults: readonly string[]
  /** The prefix in the document's header names. */
  headerPrefix: string
  operations: readonly Operation[]
  channels: readonly Channel[]
  /** Error codes. The OpenAI-compatible API has the codes of the router API. */
  errors: Readonly<Record<string, ErrorRow>>
  /** The first check on JSON: the validators that the generator makes from the document. */
  validators: ContractValidators
  /** The second, independent check on JSON. Null for a document with channels. */
  oracle: Oracle | null
}

/** Returns the fault in a JSON answer, or null. */
export type Oracle = (operation: Operation, status: number, body: unknown) => string | null

/**
 * Reads a served document. `known` has the error codes of an earlier document. Throws an error if this document cannot
 * be read.
 */
export function surfaceOf(name: string, text: string, known: Readonly<Record<string, ErrorRow>>): Surface {
  const { document, faults } = readDocument(text)
  // The OpenAI-compatible API has the codes of the router API, and its document is read after the router API's
  // document.
  const errors = document['x-error-codes'] ?? known
  return {
    name,
    document,
    faults,
    headerPrefix: prefixIn(text),
    operations: operationsOf(document, name),
    channels: channelsOf(document, name),
    errors,
    validators: new ContractValidators(JSON.stringify(document)),
    oracle: document.openapi === undefined ? null : oracleOf(document),
  }
}

/** Checks bodies only: openapi-backend would demand optional headers. */
function oracleOf(document: Document): Oracle {
  let made: OpenAPIBackend | null = null
  return ({ id }, status, body) => {
    made ??= createOracle(withoutDiscriminators(structuredClone(document)) as OracleDocument)
    const operation = made.router.getOperation(id)
    if (operation === undefined) return `openapi-backend does not know ${id}`
    const [error] = made.validator.validateResponse(body, operation, status).errors ?? []
    return error === undefined ? null : `${error.instancePath || 'the body'} ${error.message}`
  }
}

/** Removes `discriminator`: Ajv would ignore it here, and openapi-backend refuses a mapping. */
function withoutDiscriminators(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  const mark = fields['discriminator']
  if (typeof mark === 'object' && mark !== null && 'propertyName' in mark) delete fields['discriminator']
  Object.values(fields).forEach(withoutDiscriminators)
  return value
}
