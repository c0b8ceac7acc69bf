/**
 * Checks every JSON answer in tests a second time: openapi-backend finds the operation in the served contracts and
 * validates the body. It shares no code with the generator. Each validator is compiled at its first answer.
 */
import type { Document, OpenAPIBackend } from 'openapi-backend'
import { createOracle } from '../conform/oracle.ts'
import { compatContract } from '../generated/compat/contract.ts'
import { internalContract } from '../generated/internal/contract.ts'
import { platformContract } from '../generated/platform/contract.ts'
import { routerContract } from '../generated/router/contract.ts'

type Schema = { $ref?: string; properties?: Record<string, Schema>; required?: string[]; writeOnly?: boolean }
type Contract = { servers: [{ url: string }]; components: { schemas: Record<string, Schema> } }
type Asked = { url: string; method?: string | undefined }
type Answered = { status: number; type: string | null; text: string }

const oracles = [routerContract, compatContract, platformContract, internalContract].map((contract) => lazily(contract))

/** Sends a request to Parley like `fetch`. Throws if the answer is JSON that breaks the contract. */
export async function judgedFetch(url: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(url, init)
  const type = answer.headers.get('content-type')
  if (isJson(type))
    judge({ url, method: init.method }, { status: answer.status, type, text: await answer.clone().text() })
  return answer
}

/** Throws if the answer is JSON that breaks the contract. */
export function judge(asked: Asked, answered: Answered): void {
  const fault = isJson(answered.type) ? faultOf(asked, answered) : null
  if (fault !== null) throw new Error(fault)
}

const isJson = (type: string | null) => type?.startsWith('application/json') === true

/**
 * Returns the difference between the response and the contract. Null if there is no difference, or if the request fits
 * no operation.
 */
function faultOf({ url, method = 'GET' }: Asked, { status, text }: Answered): string | null {
  const { pathname: path, search } = new URL(url)
  // openapi-backend would accept a slash at the end, but the product refuses it.
  if (path.endsWith('/')) return null
  const request = { method: method.toLowerCase(), path: path + search, headers: {} }
  for (const oracle of oracles) {
    const backend = oracle()
    const operation = backend.router.matchOperation(request)
    if (operation === undefined) continue
    const name = `${method} ${path} (${operation.operationId}) ${status}`
    const declared = operation.responses?.[status]
    if (declared === undefined) return `${name} is not declared: ${text.slice(0, shownMax)}`
    // The answer to HEAD has no body.
    if (text === '') return null
    if (!('content' in declared) || declared.content?.['application/json'] === undefined)
      return `${name} has no JSON in the contract: ${text.slice(0, shownMax)}`
    const { errors } = backend.validator.validateResponse(JSON.parse(text), operation, status)
    const [error] = errors ?? []
    return error ? `${name}: ${error.instancePath} ${error.message}: ${text.slice(0, shownMax)}` : null
  }
  return null
}

const shownMax = 500

function lazily(contract: string): () => OpenAPIBackend {
  let made: OpenAPIBackend | null = null
  return () => (made ??= oracleOf(JSON.parse(contract) as Contract))
}

function oracleOf(contract: Contract): OpenAPIBackend {
  forAnswers(contract)
  return createOracle(contract as unknown as Document, contract.servers[0].url)
}

/** Forbids `writeOnly` fields in answers, because openapi-backend would allow them. */
function forAnswers(contract: Contract): void {
  const { schemas } = contract.components
  const isHidden = ({ $ref, writeOnly }: Schema) =>
    writeOnly === true || ($ref !== undefined && schemas[$ref.slice($ref.lastIndexOf('/') + 1)]?.writeOnly === true)
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const schema = value as Schema
    Object.values(schema).forEach(visit)
    if (typeof schema.properties !== 'object') return
    const hidden = Object.entries(schema.properties).flatMap(([name, property]) => (isHidden(property) ? [name] : []))
    if (hidden.length === 0) return
    schema.required = (schema.required ?? []).filter((name) => !hidden.includes(name))
    for (const name of hidden) Object.assign(schema.properties, { [name]: false })
  }
  visit(contract)
}
