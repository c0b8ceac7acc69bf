/** Checks with requests that the server must accept. */
import { faultsIf, typeOf } from './answer.ts'
import { envelopeOf } from './envelope.ts'
import type { Received } from './http.ts'
import { acceptable, ask, expectStatus, isReason, isSuccess, type OperationCheck, type Probe, said } from './probe.ts'
import { form, partsOf, recordingOf, requestOf } from './requests.ts'
import { type Found, inapplicable } from './results.ts'
import { branches } from './schema-walk.ts'

export const successChecks: readonly OperationCheck[] = [
  { number: 20, name: 'every example is accepted', otherwise: 'no example', probe: examples },
  { number: 18, name: 'HEAD equals GET without a body', otherwise: 'it has no GET', probe: head },
  { number: 21, name: 'multipart parts are checked', otherwise: 'the body is not multipart', probe: multipart },
]

async function examples(probe: Probe): Promise<Found> {
  const { operation } = probe
  const values = [...(operation.body?.media.examples ?? [['the request', undefined] as const])]
  const found: Found[] = []
  for (const [name, value] of values) {
    const wanted = await acceptable(probe, value)
    if (isReason(wanted)) return wanted
    found.push(acceptance(probe, await ask(probe, wanted), name))
  }
  const faults = found.filter((each): each is string[] => Array.isArray(each))
  return faults.length > 0 ? faults.flat() : (found[0] ?? null)
}

/** A deployment may lack a model, a number or credit. Then its refusal says nothing about the example. */
function acceptance({ operation }: Probe, received: Received, name: string): Found {
  if (isSuccess(received)) return []
  const { code = '', places = [] } = envelopeOf(received) ?? {}
  const lacks = lackingCodes.has(code ?? '') || lackingStatuses.has(received.status)
  // An example names models that only some deployments have.
  const isModel = operation.body !== null && operation.surface !== 'platform' && isOfModel(received, places)
  if (lacks || isModel || (received.status === 404 && mayLack.has(operation.id)))
    return inapplicable(`this deployment answers ${said(received)}`)
  return [`${name} is answered ${said(received)}`]
}

/** An imported number is not a number of the carrier, so it cannot be assigned. */
const lackingCodes = new Set([
  'capability_unsupported',
  'BRAND_NOT_READY',
  'CALL_NOT_TRANSFERABLE',
  'SMS_ASSIGNMENT_UNSUPPORTED_NUMBER',
])
const lackingStatuses = new Set([402, 403, 409, 410, 429, 502, 503, 504])
const isOfModel = ({ status }: Received, places: readonly string[]) =>
  status === 404 || (status === 400 && places.some((place) => /^\/?(model|routing)/.test(place)))

/** A call may have no recording, and no report yet. */
const mayLack = new Set([
  'sendAgentMessage',
  'getCallReport',
  'getCallRecording',
  'getCallRecordingAudio',
  'getRecordingPeaks',
  'listRmsgSubscriptions',
])

async function head(probe: Probe): Promise<Found> {
  const { operation } = probe
  if (operation.method !== 'GET') return null
  const wanted = await acceptable(probe)
  if (isReason(wanted)) return wanted
  const request = requestOf(wanted)
  const got = await probe.run.send(operation, request)
  if (typeOf(got) === 'text/event-stream') return inapplicable('its answer is a stream')
  const headed = await probe.run.send(operation, { ...request, method: 'HEAD' })
  // The resource can change between the two requests.
  const again = await probe.run.send(operation, request)
  const lengths = [got, again].map(({ headers }) => headers['content-length'])
  const [a, b] = [got, headed].map(({ headers }) => [headers['content-type'], headers['content-length']])
  return [
    ...faultsIf(headed.status !== got.status, `HEAD is answered ${headed.status}, GET ${got.status}`),
    ...faultsIf(a?.[0] !== b?.[0], `HEAD has the content type ${b?.[0]}, GET ${a?.[0]}`),
    ...faultsIf(b?.[1] !== undefined && !lengths.includes(b[1]), `HEAD has the length ${b?.[1]}, GET ${a?.[1]}`),
    ...faultsIf(headed.body.length > 0, 'HEAD has a body'),
  ]
}

async function multipart(probe: Probe): Promise<Found> {
  const { run, operation } = probe
  const media = operation.body?.media
  if (media?.type !== 'multipart/form-data') return null
  const isClosed = branches(media.schema, schemasOf(probe)).some((branch) => branch.additionalProperties === false)
  if (media.partOrder === null && !isClosed)
    return inapplicable('the parts have no order, and unknown parts are ignored')
  const parts = partsOf([...media.examples.values()][0] as Record<string, unknown>, recordingOf(1))
  const send = (chosen: typeof parts) => {
    const { body, type } = form(chosen)
    return run.send(operation, {
      ...requestOf({ operation, key: run.keys.key, headers: { 'content-type': type } }),
      body,
    })
  }
  const extra = { name: 'conform_unknown', type: 'text/plain', data: 'x' }
  return [
    ...(media.partOrder === null
      ? []
      : expectStatus(await send([...parts].reverse()), 400, 'the wrong order of parts')),
    ...(isClosed ? expectStatus(await send([...parts, extra]), 400, 'an unknown part') : []),
  ]
}

const schemasOf = ({ run, operation }: Probe) => run.surface(operation.surface).document.components?.schemas ?? {}
