/** Checks a request by the contract: its parameters, its content type and its body. */
import type { IncomingMessage } from 'node:http'
import { jsonOrText, MalformedForm, readBody, readForm } from './body.ts'
import type { Media, Operation, Surface } from './documents.ts'

/** A fault of a request. `path` is a JSON pointer in the body, or a parameter's name. */
export type Problem = { path: string; message: string; keyword: string }
/** `body` is the JSON value, or a form's values by part. Undefined for bytes. */
export type CheckedRequest = { problems: Problem[]; body: unknown }

/** The body has a content type that the operation does not take. */
export class UnsupportedMedia extends Error {}

/** Reads the body, and returns the request's faults. Throws BodyTooLarge and UnsupportedMedia. */
export async function checkRequest(
  surface: Surface,
  operation: Operation,
  request: IncomingMessage,
  url: URL,
): Promise<CheckedRequest> {
  const { problems, body } = await bodyOf(operation, request)
  const { errors } = surface.backend.validateRequest(
    {
      method: operation.method,
      path: url.pathname,
      headers: headersOf(operation, request),
      query: queryOf(operation, url),
      // Undefined is not a body. Any other value is checked, even null.
      body,
    },
    operation.operationId,
  )
  const found = (errors ?? []).map(problemOf)
  return { problems: problems.length > 0 ? problems : found, body }
}

async function bodyOf(operation: Operation, request: IncomingMessage): Promise<CheckedRequest> {
  const bytes = await readBody(request)
  const declared = operation.requestBody
  if (declared === undefined) return { problems: [], body: undefined }
  if (bytes.length === 0) {
    const problems = declared.required === true ? [wrongBody('the body is missing', 'required')] : []
    return { problems, body: undefined }
  }
  if (declared['x-any-media-type'] === true) return { problems: [], body: undefined }
  const contentType = request.headers['content-type'] ?? ''
  const [type, media] = mediaOf(declared.content, contentType)
  if (type === 'application/json') return jsonOf(bytes)
  if (type === 'multipart/form-data') return formOf(bytes, contentType, media)
  return { problems: [], body: undefined }
}

function mediaOf(content: Record<string, Media>, contentType: string): [string, Media] {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const name = [type, '*/*'].find((each) => Object.hasOwn(content, each))
  const media = name === undefined ? undefined : content[name]
  if (name === undefined || media === undefined)
    throw new UnsupportedMedia(`the body must be ${Object.keys(content).join(' or ')}`)
  return [name, media]
}

function jsonOf(bytes: Buffer): CheckedRequest {
  try {
    return { problems: [], body: JSON.parse(bytes.toString()) as unknown }
  } catch {
    return { problems: [wrongBody('the body is not JSON', 'parse')], body: undefined }
  }
}

async function formOf(bytes: Buffer, contentType: string, media: Media): Promise<CheckedRequest> {
  try {
    const { values, order } = await readForm(bytes, contentType, media)
    const wanted = media['x-part-order']?.filter((name) => order.includes(name)) ?? order
    const inOrder = order.filter((name) => wanted.includes(name))
    const isOrdered = inOrder.join() === wanted.join()
    const problems = isOrdered ? [] : [wrongBody(`the parts must come in the order ${wanted.join(', ')}`, 'order')]
    return { problems, body: values }
  } catch (error) {
    if (!(error instanceof MalformedForm)) throw error
    return { problems: [wrongBody(error.message, 'parse')], body: undefined }
  }
}

const wrongBody = (message: string, keyword: string): Problem => ({ path: '', message, keyword })

/** Returns the headers, with JSON values for the parameters whose content is JSON. */
function headersOf({ parameters }: Operation, { headers }: IncomingMessage): Record<string, string | string[]> {
  const values: Record<string, unknown> = { ...headers }
  for (const { name, in: place, content } of parameters) {
    const value = values[name.toLowerCase()]
    if (place === 'header' && content?.['application/json'] && typeof value === 'string')
      values[name.toLowerCase()] = jsonOrText(value)
  }
  // The type allows only strings, but the schemas of such parameters describe the JSON value.
  return values as Record<string, string | string[]>
}

/**
 * Returns the declared parameters alone: a server ignores others and repeated values, but openapi-backend would refuse
 * them.
 */
function queryOf({ parameters }: Operation, { searchParams }: URL): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {}
  for (const { name, in: place, schema } of parameters) {
    const values = searchParams.getAll(name)
    const [first] = values
    if (place === 'query' && first !== undefined) query[name] = schema?.type === 'array' ? values : first
  }
  return query
}

function problemOf(error: { instancePath: string; keyword: string; message?: string; params?: object }): Problem {
  const [, place = '', rest = ''] = /^\/(requestBody|query|path|header)(.*)$/s.exec(error.instancePath) ?? []
  const { additionalProperty, missingProperty } = (error.params ?? {}) as Record<string, string | undefined>
  const field = additionalProperty ?? missingProperty
  const pointer = field === undefined ? rest : `${rest}/${field}`
  const path = place === 'requestBody' ? pointer : pointer.slice(1)
  const reason = additionalProperty === undefined ? (error.message ?? 'is not valid') : 'is not a known field'
  return { path, message: `${path || 'the body'} ${missingProperty ? 'is required' : reason}`, keyword: error.keyword }
}
