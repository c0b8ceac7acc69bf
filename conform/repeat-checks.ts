/** Checks with repeated requests, and checks on ranges and deprecated operations. */
import { faultsIf, typeOf } from './answer.ts'
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
import { firstExample, keyed, requestOf } from './requests.ts'
import { type Found, inapplicable } from './results.ts'

const noKey = 'it takes no idempotency key'
const current = 'it is not deprecated'

export const repeatChecks: readonly OperationCheck[] = [
  { number: 35, name: 'a repeated request is answered as declared', otherwise: noKey, probe: repeated },
  { number: 36, name: 'a key with another body is 409', otherwise: noKey, probe: otherBody },
  { number: 37, name: 'one of two twins is served', otherwise: noKey, probe: twins },
  { number: 51, name: 'ranges are 206 or 416', otherwise: 'it takes no range', probe: ranges },
  { number: 61, name: 'deprecation is announced', otherwise: current, probe: announced },
  { number: 62, name: 'a removed operation is 410', otherwise: current, probe: removed },
]

/** Replays are declared by the header `Idempotent-Replayed`. Without it, a repeated request is a conflict. */
const replays = ({ operation }: Probe) =>
  [...operation.responses].some(([status, { headers }]) => status.startsWith('2') && headers.has('idempotent-replayed'))

async function served(probe: Probe) {
  if (!keyed(probe.operation)) return null
  const wanted = await acceptable(probe)
  if (isReason(wanted)) return wanted
  const sent = requestOf(wanted)
  const first = await sendTo(probe, sent)
  return isSuccess(first) ? { wanted, sent, first } : inapplicable(`this deployment answers ${said(first)}`)
}

async function repeated(probe: Probe): Promise<Found> {
  const done = await served(probe)
  if (done === null || isReason(done)) return done
  const again = await sendTo(probe, done.sent)
  if (!replays(probe)) return expectStatus(again, 409, 'a repeated request')
  return [
    ...expectStatus(again, done.first.status, 'a repeated request'),
    ...faultsIf(!again.body.equals(done.first.body), 'a replayed answer has another body'),
    ...faultsIf(again.headers['idempotent-replayed'] !== 'true', 'a replayed answer is not marked'),
  ]
}

async function otherBody(probe: Probe): Promise<Found> {
  const { operation } = probe
  const value = changedText(firstExample(operation))
  if (keyed(operation) && value === null) return inapplicable('its example has no text to change')
  const done = await served(probe)
  if (done === null || isReason(done)) return done
  const headers = { 'idempotency-key': done.sent.headers['idempotency-key'] ?? '' }
  const changed = { ...(done.wanted.value as object), ...(value as object) }
  return expectStatus(await ask(probe, { ...done.wanted, value: changed, headers }), 409, 'a key with another body')
}

/** Returns changed text for a field in the example. Null if the example has no free text. */
function changedText(example: unknown): object | null {
  const { input, metadata, label, language, request } = (example ?? {}) as Record<string, unknown>
  if (typeof input === 'string') return { input: `${input} Again.` }
  if (Array.isArray(input)) return { input: [...(input as unknown[]), ...(input as unknown[])] }
  if (typeof request === 'object') return { request: { ...request, language: 'en' } }
  if (metadata !== undefined) return { metadata: { changed: 'yes' } }
  return label === undefined && language === undefined ? null : { label: 'changed' }
}

async function twins(probe: Probe): Promise<Found> {
  const { operation } = probe
  if (!keyed(operation)) return null
  const wanted = await acceptable(probe)
  if (isReason(wanted)) return wanted
  const sent = requestOf(wanted)
  // If one request gets no answer, the other request may have made a resource, which must be removed.
  const ends = await Promise.allSettled([1, 2].map(() => sendTo(probe, sent)))
  const answers = ends.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
  const [a, b] = answers as [Received, Received]
  const all = answers.filter(isSuccess)
  if (all.length === 0) return inapplicable(`this deployment answers ${said(a)}`)
  const isReplay = replays(probe) && all.length === 2 && a.body.equals(b.body)
  const other = answers.find((answer) => !isSuccess(answer))
  return [
    ...faultsIf(all.length === 2 && !isReplay, 'two requests at once with one key are both served'),
    ...(other === undefined ? [] : expectStatus(other, 409, 'the second of two twins')),
  ]
}

async function ranges(probe: Probe): Promise<Found> {
  const { operation, run } = probe
  if (!operation.parameters.some(({ name }) => name.toLowerCase() === 'range')) return null
  const wanted = await acceptable(probe)
  if (isReason(wanted)) return wanted
  const whole = await ask(probe, wanted)
  if (whole.status !== 200) return inapplicable(`this deployment answers ${said(whole)}`)
  const size = whole.body.length
  const part = (range: string) => run.send(operation, requestOf({ ...wanted, headers: { range } }))
  const first = await part('bytes=0-99')
  const beyond = await part(`bytes=${size}-`)
  const expected = `bytes 0-99/${size}`
  return [
    ...expectStatus(first, 206, 'a range'),
    ...faultsIf(first.headers['content-range'] !== expected, `Content-Range is not ${expected}`),
    ...faultsIf(!first.body.equals(whole.body.subarray(0, 100)), 'a range has other bytes than the whole'),
    ...expectStatus(beyond, 416, 'a range beyond the end'),
    ...faultsIf(beyond.headers['content-range'] !== `bytes */${size}`, '416 does not name the size'),
  ]
}

const dayMs = 86_400_000
const noticeDays = 90

/** Reads RFC 9745's date: seconds since 1970 after an at sign. */
const deprecatedMs = (text: string | undefined) =>
  /^@\d+$/.test(text ?? '') ? Number(text?.slice(1)) * 1000 : Number.NaN

async function announced(probe: Probe): Promise<Found> {
  const { operation, run } = probe
  if (operation.deprecation === null) return null
  const { path: ownPath } = operation
  const { headers } = await ask(probe, refusable(probe))
  const [from, to] = [deprecatedMs(headers['deprecation']), Date.parse(headers['sunset'] ?? '')]
  const target = /<([^>]+)>/.exec(headers['link'] ?? '')?.[1] ?? null
  const isKnown = run.operations.some(({ path }) => path === target && path !== ownPath)
  return [
    ...faultsIf(Number.isNaN(from), `Deprecation is ${headers['deprecation'] ?? 'missing'}`),
    ...faultsIf(Number.isNaN(to), `Sunset is ${headers['sunset'] ?? 'missing'}`),
    ...faultsIf(to - from < noticeDays * dayMs, `Sunset is less than ${noticeDays} days after Deprecation`),
    ...faultsIf(target === null, 'Link is missing'),
    ...faultsIf(
      target !== null && /successor-version/.test(headers['link'] ?? '') && !isKnown,
      `the successor ${target} is not declared`,
    ),
  ]
}

/** The error codes for an organization without the operation's feature. */
const disabled = new Set(['NOT_ENABLED_FOR_ORGANIZATION', 'SMS_10DLC_DISABLED_FOR_ORG'])

/** The scopes that the live key must have. */
const neededScopes = new Set(['router', 'platform', 'realtime'])

/** Returns the reason if no request reaches the operation here, or null. The body is broken, so nothing is done. */
export async function mootReason(probe: Probe): Promise<string | null> {
  const { deprecation, scope, path, method, body } = probe.operation
  const mayLack = scope !== null && !neededScopes.has(scope)
  if (deprecation === null && !mayLack && !path.startsWith('/v1/sms/')) return null
  const isHarmless = method === 'GET' || body !== null || path.includes('{')
  if (!isHarmless && probe.run.keyFor(probe.operation) === null) return null
  const key = probe.run.keyFor(probe.operation) ?? probe.run.keys.key
  const sent = requestOf(refusable(probe, { key }))
  const received = await sendTo(probe, sent.body === undefined ? sent : { ...sent, body: '{' })
  if (received.status === 410) return 'the operation is removed'
  if (received.status === 403 && mayLack) return `the key has not the scope ${scope}`
  return disabled.has(envelopeOf(received)?.code ?? '') ? `this deployment answers ${said(received)}` : null
}

/** After its sunset an operation may be removed, and then answers 410. It may also stay. */
async function removed(probe: Probe): Promise<Found> {
  const { operation } = probe
  if (operation.deprecation === null) return null
  if (Date.parse(operation.deprecation.sunset) > Date.now()) return inapplicable('its sunset is still to come')
  const received = await ask(probe, refusable(probe))
  if (received.status === 410) return faultsIf(typeOf(received) !== 'application/json', '410 has no envelope')
  return faultsIf(received.status === 404 || received.status === 405, `it is answered ${said(received)}, not 410`)
}
