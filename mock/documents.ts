/**
 * The three HTTP contracts as openapi-backend reads them: it finds an operation, checks a request and selects an
 * example. The documents are OpenAPI 3.1, so the schemas need the Ajv of JSON Schema 2020-12.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { type Document, OpenAPIBackend, ValidationContext } from 'openapi-backend'
import { compatContract } from '../generated/compat/contract.ts'
import { platformContract } from '../generated/platform/contract.ts'
import { realtimeContract } from '../generated/realtime/contract.ts'
import { routerContract } from '../generated/router/contract.ts'
import { sessionContract } from '../generated/session/contract.ts'

/** One HTTP API. `root` is the path in front of all its paths. */
export type Surface = { name: 'router' | 'compat' | 'platform'; root: string; backend: OpenAPIBackend }

type Schema = { type?: string | string[]; properties?: Record<string, Schema> }
export type Media = {
  schema?: Schema
  examples?: Record<string, { value: unknown }>
  encoding?: Record<string, { contentType?: string }>
  'x-part-order'?: string[]
}
type Content = Record<string, Media>
export type DeclaredAnswer = { headers?: Record<string, { required?: boolean; example?: unknown }>; content?: Content }
/** An operation in a contract, without references. */
export type Operation = {
  operationId: string
  path: string
  method: string
  security: object[]
  parameters: { name: string; in: string; schema?: Schema; content?: Content }[]
  /** With `x-any-media-type` the body is bytes, and its content type may also be undeclared. */
  requestBody?: { required?: boolean; content: Content; 'x-any-media-type'?: boolean }
  responses: Record<string, DeclaredAnswer>
  /** The body's field that selects the event stream, or `Accept`. */
  'x-stream-switch'?: string
  /** The value that requests an event stream, for the field in `x-stream-switch`. The default is true. */
  'x-stream-value'?: string
}

/**
 * The answers that consist of a contract document. Their examples have only its first lines, so the whole contract is
 * sent instead.
 */
export const contracts: Readonly<Record<string, string>> = {
  getOpenapi: routerContract,
  getCompatContract: compatContract,
  getPlatformContract: platformContract,
  getRealtimeContract: realtimeContract,
  getSessionContract: sessionContract,
}

/** Reads the contracts. Takes about 0.2 s; each schema is compiled at the first request that needs it. */
export function readSurfaces(): Surface[] {
  return [
    createSurface('router', routerContract),
    createSurface('compat', compatContract),
    createSurface('platform', platformContract),
  ]
}

export function operationsOf({ backend }: Surface): Operation[] {
  return backend.getOperations() as unknown as Operation[]
}

function createSurface(name: Surface['name'], contract: string): Surface {
  const definition = JSON.parse(contract, withoutBinary) as Document
  const root = definition.servers?.[0]?.url ?? '/'
  const [bodies, parameters] = [createAjv(false), createAjv(true)]
  const backend = new OpenAPIBackend({
    definition,
    apiRoot: root,
    // Without this option openapi-backend would check the document as OpenAPI 3.0 and compile all schemas at the start.
    quick: true,
    ignoreTrailingSlashes: false,
    customizeAjv: (_ajv, _options, context) => (context === ValidationContext.Params ? parameters : bodies),
  })
  // With `quick` the initialization is synchronous, so its promise need not be awaited.
  void backend.init()
  return { name, root: root.replace(/\/$/, ''), backend }
}

/** openapi-backend would treat a required part as optional if its format is `binary`. */
function withoutBinary(key: string, value: unknown): unknown {
  return key === 'format' && value === 'binary' ? undefined : value
}

function createAjv(coerceTypes: boolean): Ajv2020 {
  // Other tests check the documents, and each validator runs a few times only.
  const ajv = new Ajv2020({ strict: false, validateSchema: false, coerceTypes, code: { optimize: false } })
  // ajv-formats is CommonJS, so under Node's ESM its default import is the module itself.
  addFormatsModule.default(ajv)
  return ajv
}
