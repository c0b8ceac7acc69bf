/**
 * Checks that run in tests and development: each JSON response, event and frame of an API has a validator, and a wrong
 * response is reported.
 */
import t from 'tap'
import { validatorsOf, withAnswerChecks, withFrameChecks } from '../../app/answer-checks.ts'
import { carrierSurface } from '../../generated/carrier/channels.ts'
import { compatSurface } from '../../generated/compat/routes.ts'
import { internalSurface } from '../../generated/internal/routes.ts'
import { platformSurface } from '../../generated/platform/routes.ts'
import { realtimeSurface } from '../../generated/realtime/channels.ts'
import { routerSurface } from '../../generated/router/routes.ts'
import { sessionSurface } from '../../generated/session/channels.ts'
import type { Channel } from '../../runtime/engine/channel.ts'
import type { ResponseShape, Surface, Validate } from '../../runtime/engine/operation.ts'
import { mount, start } from '../http/harness.ts'

/** No schema has this value, so a compiled validator refuses it. */
const nonsense = Symbol('nonsense')
const refuses = (validate: Validate | undefined) => validate?.(nonsense) === false

t.test('each JSON response and each event of an API has a validator', (t) => {
  for (const surface of [compatSurface, internalSurface, platformSurface, routerSurface]) {
    const { operations } = withAnswerChecks(mount(surface, {})).surface
    const answers = operations.flatMap(({ id, responses }) =>
      Object.entries(responses).map(([status, shape]) => ({ name: `${id} ${status}`, ...shape })),
    )
    const unchecked = answers.filter((answer) => !isChecked(answer))
    t.same(
      unchecked.map(({ name }) => name),
      [],
      `${surface.name}: ${answers.length} answers`,
    )
  }
  t.end()
})

function isChecked({ types, validate, events }: ResponseShape): boolean {
  const isJsonChecked = !types.includes('application/json') || refuses(validate)
  const eventChecks = Object.values(events ?? {})
  return (
    isJsonChecked && (!types.includes('text/event-stream') || (eventChecks.length > 0 && eventChecks.every(refuses)))
  )
}

t.test('each frame that a WebSocket channel sends has a validator', (t) => {
  const sent = (channels: readonly Channel[]) =>
    channels.flatMap(({ id, sends = {} }) => {
      t.ok(Object.values(sends).length > 0, id)
      return Object.entries(sends).filter(([, validate]) => !refuses(validate))
    })
  for (const surface of [carrierSurface, realtimeSurface, sessionSurface]) {
    const checked = withFrameChecks({
      surface,
      basePath: '',
      host: null,
      handlers: {},
      admit: () => null,
      writeFault: () => ({ status: 500, headers: {}, body: '' }),
    }).surface
    t.same(sent(checked.channels), [], surface.name)
  }
  t.end()
})

t.test('an answer that breaks the contract becomes a 500, and the log names the fault', async (t) => {
  const bodies: unknown[] = [{ status: 'ok' }, { status: 'fine' }, {}]
  const health = mount(only(internalSurface, 'getHealth'), { getHealth: () => ({ status: 200, body: bodies.shift() }) })
  const server = await start([health])
  t.teardown(() => server.drain())
  const statuses: number[] = []
  while (bodies.length > 0) statuses.push((await fetch(`${server.url}/healthz`)).status)
  t.same(statuses, [200, 500, 500])
  const reason = (problem: string) => `getHealth 200 is not what the contract says: ${problem}`
  t.same(
    server.errors.map((error) => (error as Error).message),
    [reason('/status must be equal to constant'), reason(" must have required property 'status'")],
  )
})

t.test('an answer is not checked if its handler marks it as exempt', async (t) => {
  const results = [true as const, undefined].map((isUnchecked) => ({
    ...{ status: 200, body: { status: 'fine' } },
    ...(isUnchecked && { isUnchecked }),
  }))
  const health = mount(only(internalSurface, 'getHealth'), { getHealth: () => results.shift() ?? { status: 500 } })
  const server = await start([health])
  t.teardown(() => server.drain())
  const marked = await fetch(`${server.url}/healthz`)
  t.same([marked.status, await marked.json()], [200, { status: 'fine' }])
  t.equal((await fetch(`${server.url}/healthz`)).status, 500)
})

t.test('an event, a frame or a webhook payload that breaks the contract is reported', (t) => {
  const delta = validatorsOf('router')?.events('createResponse', '200')?.['response.text.delta']
  t.equal(delta?.({ output_index: 0, delta: 'Hello' }), true, JSON.stringify(delta?.errors))
  t.equal(delta?.({ output_index: '0', delta: 'Hello' }), false)
  const pong = validatorsOf('session')?.frames('sessionMedia')?.['pong']
  t.equal(pong?.({ type: 'pong' }), true)
  t.equal(pong?.({ type: 'ping' }), false)
  t.equal(validatorsOf('platform')?.payload('call.status')?.({ type: 'call.status' }), false)
  t.equal(validatorsOf('platform')?.payload('call.unknown'), null)
  t.end()
})

function only(surface: Surface, id: string): Surface {
  const operations = surface.operations.filter((operation) => operation.id === id)
  return { ...surface, operations, paths: surface.paths.filter(({ pattern }) => pattern === operations[0]?.pattern) }
}
