/** Checks with faulty requests. The server must refuse them. */
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Schema } from '../codegen/schema.ts'
import { faultsIf, typeOf } from './answer.ts'
import { spendReason } from './conformance.ts'
import { envelopeOf } from './envelope.ts'
import type { Received } from './http.ts'
import {
  acceptable,
  ask,
  expectStatus,
  isReason,
  isSuccess,
  type OperationCheck,
  type Probe,
  refusable,
  said,
  sendTo,
} from './probe.ts'
import { firstExample, keyed, requestOf, unknownKey as unknownApiKey, unknownId } from './requests.ts'
import { type Found, inapplicable } from './results.ts'
import { branches } from './schema-walk.ts'
import { beyondBounds, type Spoiled, withoutRequired } from './spoiled.ts'

const noBody = 'it takes no JSON body'
const open = 'it needs no key'

export const refusalChecks: readonly OperationCheck[] = [
  { number: 22, name: 'no key is 401', otherwise: open, probe: withoutKey },
  { number: 23, name: 'an unknown key gets the same bytes', otherwise: open, probe: unknownKey },
  { number: 24, name: 'a key of lesser scope is 403', otherwise: open, probe: lesserScope },
  { number: 25, name: 'an unknown id is 404', otherwise: 'its path has no id', probe: unknownIds },
  { number: 26, name: 'an unknown field is 400', otherwise: noBody, probe: unknownField },
  { number: 27, name: 'a missing field is 400', otherwise: 'no field is required', probe: missingFields },
  { number: 28, name: 'a value beyond a bound is 400', otherwise: 'no field has a bound', probe: bounds },
  { number: 29, name: 'a wrong content type is 415', otherwise: 'it takes no body', probe: wrongType },
  { number: 30, name: 'a body that is too large is 413', otherwise: 'it takes no body', probe: tooLarge },
  { number: 31, name: 'a broken body is 400', otherwise: 'it takes no body', probe: broken },
  { number: 34, name: 'a missing idempotency key is 400', otherwise: 'no key is required', probe: noIdempotencyKey },
]

async function withoutKey(probe: Probe): Promise<Found> {
  if (!probe.operation.secured) return null
  const received = await ask(probe, refusable(probe, { key: null }))
  const scheme = received.headers['www-authenticate']
  return [
    ...expectStatus(received, 401, 'a request without a key'),
    ...faultsIf(scheme === undefined, 'a request without a key gets no WWW-Authenticate'),
  ]
}

async function unknownKey(probe: Probe): Promise<Found> {
  if (!probe.operation.secured) return null
  const [none, other] = [
    await ask(probe, refusable(probe, { key: null })),
    await ask(probe, refusable(probe, { key: unknownApiKey })),
  ]
  const [a, b] = [none, other].map((received) => withoutId(received))
  return faultsIf(a !== b || none.status !== other.status, 'no key and an unknown key get different answers')
}

function withoutId(received: Received): string {
  const id = envelopeOf(received)?.requestId
  const text = received.body.toString()
  return id === undefined ? text : text.replaceAll(id, '')
}

async function lesserScope(probe: Probe): Promise<Found> {
  const { run, operation } = probe
  const { keyOfLesserScope: key } = run.keys
  if (!operation.secured) return null
  if (key === null) return inapplicable('no --key-of-lesser-scope')
  // A faulty server would accept the key and carry out the request. An id in the path has no resource, so nothing would
  // happen. Without an id, the check is made only if this run may carry out the operation.
  if (!operation.path.includes('{') && run.keyFor(operation) === null) return inapplicable(spendReason)
  if (await hasScope(probe, key)) return inapplicable('the key has the scope of the operation')
  const received = await ask(probe, refusable(probe, { key }))
  return expectStatus(received, 403, 'a key of lesser scope')
}

/**
 * Returns true if another operation with the same scope accepts the key. The request's broken body prevents any change.
 */
async function hasScope({ run, operation }: Probe, key: string): Promise<boolean> {
  const others = run.operations.filter(
    ({ id, scope, path }) => id !== operation.id && scope === operation.scope && !path.includes('{'),
  )
  const read = others.find(({ method }) => method === 'GET')
  if (read !== undefined) return isSuccess(await run.http.send(requestOf({ operation: read, key })))
  const write = others.find(({ body }) => body?.media.type === 'application/json')
  if (write === undefined) return false
  const { status } = await run.http.send({ ...requestOf({ operation: write, key, value: {} }), body: '{' })
  return status === 400
}

async function unknownIds(probe: Probe): Promise<Found> {
  const { run, operation } = probe
  const parameter = operation.parameters.filter((each) => each.in === 'path').at(-1)
  if (parameter === undefined) return null
  const key = run.keyFor(operation) ?? run.keys.key
  const ids = { [parameter.name]: unknownId(String(parameter.example)) }
  const received = await ask(probe, refusable(probe, { key, ids }))
  return expectStatus(received, 404, 'an unknown id')
}

/**
 * Returns the JSON body's schema and example. Returns a reason instead if the operation takes no JSON, or might spend
 * money.
 */
function jsonBody({ run, operation }: Probe): { schema: Schema; example: unknown } | null | { reason: string } {
  const media = operation.body?.media
  if (media?.type !== 'application/json') return null
  // A faulty server could take the spoiled body, and the request would spend money if its path has no id.
  const hasIds = operation.path.includes('{')
  if (!hasIds && run.keyFor(operation) === null) return inapplicable(spendReason)
  return { schema: media.schema, example: firstExample(operation) }
}

const schemasOf = ({ run, operation }: Probe) => run.surface(operation.surface).document.components?.schemas ?? {}

async function unknownField(probe: Probe): Promise<Found> {
  const body = jsonBody(probe)
  if (body === null || isReason(body)) return body
  const isOpen = !branches(body.schema, schemasOf(probe)).some((branch) => branch.additionalProperties === false)
  if (isOpen) return inapplicable('the body may have other fields')
  return refusals(probe, [{ pointer: '/conform_unknown', value: { ...(body.example as object), conform_unknown: 1 } }])
}

async function missingFields(probe: Probe): Promise<Found> {
  const body = jsonBody(probe)
  if (body === null || isReason(body)) return body
  const spoiled = withoutRequired(body.schema, body.example, schemasOf(probe))
  return spoiled.length === 0 ? null : refusals(probe, spoiled)
}

async function bounds(probe: Probe): Promise<Found> {
  const body = jsonBody(probe)
  if (body === null || isReason(body)) return body
  const spoiled = beyondBounds(body.schema, body.example, schemasOf(probe))
  return spoiled.length === 0 ? null : refusals(probe, spoiled)
}

/** Sends each spoiled body. The answer must be 400 and name the spoiled field, or the object around it. */
async function refusals(probe: Probe, spoiled: readonly Spoiled[]): Promise<string[]> {
  const faults: string[] = []
  for (const { pointer, value } of spoiled) {
    const key = probe.run.keyFor(probe.operation) ?? probe.run.keys.key
    const received = await ask(probe, refusable(probe, { key, value }))
    const places = envelopeOf(received)?.places ?? []
    const isNamed = places.some((place) => place === pointer || pointer.startsWith(`${place}/`) || place === '')
    faults.push(
      ...faultsIf(received.status !== 400, `${pointer}: answered ${said(received)}, not 400`),
      ...faultsIf(received.status === 400 && !isNamed, `${pointer}: the error names ${places.join() || 'no place'}`),
    )
  }
  return faults
}

async function wrongType(probe: Probe): Promise<Found> {
  const { run, operation } = probe
  const { body } = operation
  if (body === null) return null
  if (!operation.path.includes('{') && run.keyFor(operation) === null) return inapplicable(spendReason)
  if (body.takesAnyType || body.media.type === '*/*') return inapplicable('it takes any content type')
  const headers = { 'content-type': 'text/html' }
  return expectStatus(await ask(probe, refusable(probe, { headers })), 415, 'a body of text/html')
}

/**
 * A body length in bytes, too long for every operation. Only the first byte is sent, because the header already
 * decides.
 */
const hugeBytes = 2_000_000_000
const hugeMsMax = 10_000

async function tooLarge(probe: Probe): Promise<Found> {
  const { run, operation } = probe
  if (operation.body === null) return null
  const { path, method, headers } = requestOf(refusable(probe))
  const url = new URL(run.http.url + path)
  const status = await new Promise<number | string>((resolve) => {
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest
    const late = AbortSignal.timeout(hugeMsMax)
    const signal = AbortSignal.any([late, run.http.ended])
    const sent = open(url, { method, headers: { ...headers, 'content-length': hugeBytes }, signal })
    sent.on('error', (error) => resolve(late.aborted ? 'nothing' : error.message))
    sent.on('response', ({ statusCode }) => {
      resolve(statusCode ?? 0)
      sent.destroy()
    })
    sent.write(' ')
  })
  return faultsIf(status !== 413, `a body of ${hugeBytes} bytes is answered ${status}, not 413`)
}

async function broken(probe: Probe): Promise<Found> {
  const { operation } = probe
  const type = operation.body?.media.type
  if (type === undefined) return null
  const sent = requestOf(refusable(probe))
  if (type === 'application/json')
    return expectStatus(await sendTo(probe, { ...sent, body: '{"broken":' }), 400, 'broken JSON')
  if (type !== 'multipart/form-data') return inapplicable('the body is audio')
  const half = Buffer.from(sent.body ?? '').subarray(0, 60)
  return expectStatus(await sendTo(probe, { ...sent, body: half }), 400, 'broken multipart')
}

async function noIdempotencyKey(probe: Probe): Promise<Found> {
  const { operation } = probe
  const isRequired = operation.parameters.some(({ name, required }) => required && /^idempotency-key$/i.test(name))
  if (!isRequired) return keyed(operation) ? inapplicable('the key is optional') : null
  const sent = requestOf(refusable(probe))
  const headers = Object.fromEntries(Object.entries(sent.headers).filter(([name]) => name !== 'idempotency-key'))
  return expectStatus(await sendTo(probe, { ...sent, headers }), 400, 'a request without an idempotency key')
}

/** If a stream is refused before its first byte, the answer is JSON with a status. */
export async function refusedStream(probe: Probe, asStream: (value: unknown) => unknown): Promise<Found> {
  const wanted = await acceptable(probe)
  if (isReason(wanted)) return wanted
  const headers = { accept: 'text/event-stream' }
  const value = { ...(asStream(wanted.value) as object), model: 5, text: 5, prompt: 5, input: 5 }
  const received = await ask(probe, { ...wanted, headers, value })
  return [
    ...faultsIf(received.status < 400, `a faulty request of a stream is answered ${received.status}`),
    ...faultsIf(typeOf(received) !== 'application/json', `the refusal of a stream has the type ${typeOf(received)}`),
  ]
}
