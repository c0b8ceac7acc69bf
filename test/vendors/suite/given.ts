/** The input for every suite, and the function to run one operation through all test cases in the matrix. */
import { inspect } from 'node:util'
import type { Test } from 'tap'
import type { Provider } from '../../../domain/ports/provider.ts'
import { type ErrorClass, ProviderError } from '../../../domain/ports/provider-error.ts'
import { openCatalog } from '../../../providers/catalog/rows.ts'
import type { VendorOptions } from '../../../providers/wire/adapter.ts'
import { type OutboundLimits, outboundDefaults } from '../../../runtime/outbound/limits.ts'
import { systemClock } from '../../../runtime/timing/clock.ts'
import { type Cell, cells, type VendorStub } from './matrix.ts'

export type SuiteGiven = {
  /** An adapter with `apiKey`. Its base URL is the stub's address, or a URL without a server. */
  provider: (baseUrl: string, limits: OutboundLimits) => Provider
  stub: VendorStub
  model: string
  /** Neither a message nor a cause may show this key. */
  apiKey: string
  /** Test cases that this vendor's protocol cannot express. The skipped test shows the reason. */
  cannot?: Partial<Record<Cell, string>>
  /** Test cases whose errors have another class at this vendor than in the matrix. */
  expected?: Partial<Record<Cell, Expected>>
  /** Connections that outlive a cancelled attempt, such as a socket for many attempts. If absent, no connection may. */
  keeps?: { sockets: number; because: string }
}
export type Expected = { errorClass: ErrorClass; because: string }

/** The port's rules, equal for every vendor. */
export type PortRules = Pick<SuiteGiven, 'cannot' | 'expected'> & {
  /**
   * The calling code aborts the signal if the first answer takes too long, so `hang` may end as `cancelled` or as
   * `timeout`.
   */
  callersDeadline?: true
}

/** `call` rejects with the port's error. */
export type Operation<T> = {
  name: string
  call: (provider: Provider, signal: AbortSignal) => Promise<T>
  check: (t: Test, value: T, cell: Cell) => void
}

/** The longest time for an attempt on a busy machine. */
const overMs = 8000
export const patient: OutboundLimits = { ...outboundDefaults, firstByteMs: 10_000, idleMs: 10_000, totalMs: 20_000 }
/** The limits for the test case `hang`. A pool checks its deadlines four times a second. */
export const impatient: OutboundLimits = {
  ...outboundDefaults,
  connectMs: 300,
  firstByteMs: 300,
  idleMs: 300,
  totalMs: 600,
}
/** If `callersDeadline` is set, the calling code aborts the signal after this time. */
const callersMs = 900
export const never: AbortSignal = new AbortController().signal
/** A pool keeps the connection after a successful request, and may already have opened the next one. */
const pooledMax = 2
/** No server listens on the tcpmux port. */
const nowhere = 'http://127.0.0.1:1'

/** Runs every test case, then each way to cancel. */
export async function playOperation<T>(
  t: Test,
  given: SuiteGiven,
  rules: PortRules,
  operation: Operation<T>,
): Promise<void> {
  for (const cell of Object.keys(cells) as Cell[]) await playCell(t, given, rules, operation, cell)
  await t.test(`${operation.name}: an aborted signal ends the request`, { skip: skipOf('hang', given, rules) }, (t) =>
    playLeaving(t, given, operation, 'hang'),
  )
  await t.test(
    `${operation.name}: a signal aborted before the first byte ends the request`,
    { skip: skipOf('slow_first_byte', given, rules) },
    (t) => playLeaving(t, given, operation, 'slow_first_byte'),
  )
}

export const skipOf = (cell: Cell, given: SuiteGiven, rules: PortRules): string | false =>
  given.cannot?.[cell] ?? rules.cannot?.[cell] ?? false

/** Returns the expected error class. Null if the attempt must succeed. */
export const classOf = (cell: Cell, given: SuiteGiven, rules: PortRules): ErrorClass | null =>
  (given.expected?.[cell] ?? rules.expected?.[cell])?.errorClass ?? cells[cell]

/**
 * Runs `work` with an adapter in front of the stub, which plays `cell`. Afterwards only pooled connections may be open,
 * and after `close` no connection.
 */
export async function withProvider(
  t: Test,
  given: SuiteGiven,
  cell: Cell,
  work: (provider: Provider) => Promise<void>,
): Promise<void> {
  const { stub, keeps } = given
  stub.behave(cell)
  const baseUrl = cell === 'refuse' ? nowhere : stub.url
  const provider = given.provider(baseUrl, cell === 'hang' ? impatient : patient)
  try {
    await work(provider)
    await until(() => stub.openSockets <= pooledMax + (keeps?.sockets ?? 0), 'connections were left open')
  } finally {
    await provider.close()
  }
  await until(() => stub.openSockets === 0, 'connections outlive the adapter')
  t.equal(stub.openSockets, 0, 'nothing is left open')
}

/** Returns the ProviderError with which `work` rejects, after the checks that apply to all errors. */
export async function failureOf(t: Test, given: SuiteGiven, work: Promise<unknown>): Promise<ProviderError> {
  const error = await providerErrorOf(work)
  checkSecrets(t, given, error)
  return error
}

export function checkSecrets(t: Test, { apiKey }: SuiteGiven, error: ProviderError): void {
  const all = inspect(error, { depth: 12, showHidden: true, maxStringLength: null })
  t.notOk(all.includes(apiKey), 'the key is neither in the message nor in a cause')
}

export async function until(condition: () => boolean, otherwise: string, withinMs = overMs): Promise<void> {
  const endMs = performance.now() + withinMs
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(otherwise)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Waits until a cancelled attempt's connection has ended. */
export async function untilLeft({ stub, keeps }: SuiteGiven): Promise<void> {
  const openMax = pooledMax + (keeps?.sockets ?? 0)
  const hasEnded = () => (keeps !== undefined || stub.endedSockets > 0) && stub.openSockets <= openMax
  await until(hasEnded, 'the connection of a call that was left stays open')
}

/** Two ways to leave speech: the calling code aborts the signal, or stops reading. */
export const waysToLeave: readonly ((leaving: AbortController, audio: AsyncIterator<Uint8Array>) => unknown)[] = [
  (leaving) => leaving.abort(),
  (_leaving, audio) => audio.return?.(),
]

export function present<T>(part: T | undefined, name: string): T {
  if (part === undefined) throw new Error(`the provider has no ${name}`)
  return part
}

async function playCell<T>(
  t: Test,
  given: SuiteGiven,
  rules: PortRules,
  operation: Operation<T>,
  cell: Cell,
): Promise<void> {
  const expected = classOf(cell, given, rules)
  const title = `${operation.name}: ${cell} ${expected === null ? 'succeeds' : `fails as ${expected}`}`
  await t.test(title, { skip: skipOf(cell, given, rules) }, (t) =>
    withProvider(t, given, cell, async (provider) => {
      const startMs = performance.now()
      const leaves = cell === 'hang' && rules.callersDeadline === true
      const call = operation.call(provider, leaves ? AbortSignal.timeout(callersMs) : never)
      if (expected === null) operation.check(t, await call, cell)
      else checkFailure(t, await failureOf(t, given, call), expected, cell, leaves)
      t.ok(performance.now() - startMs < overMs, 'it was over quickly')
    }),
  )
}

export function checkFailure(t: Test, error: ProviderError, expected: ErrorClass, cell: Cell, hasLeft = false): void {
  const own = hasLeft && error.errorClass === 'cancelled' ? 'cancelled' : expected
  t.equal(error.errorClass, own, `${cell}: ${inspect(error.cause, { depth: 1 })}`)
  t.equal(error.sent, cell !== 'refuse', 'sent')
  if (cell === 'rate_limited') t.equal(error.retryAfterS, 7, 'retryAfterS')
  if (cell === 'rate_limited_bare') t.equal(error.retryAfterS, undefined, 'no retryAfterS')
}

/**
 * Checks that a cancelled request closes its connection to the vendor. In the test case `slow_first_byte` the vendor
 * sends a first message at once, such as a header or the start of a session, and its text or audio later.
 */
async function playLeaving<T>(
  t: Test,
  given: SuiteGiven,
  operation: Operation<T>,
  cell: 'hang' | 'slow_first_byte',
): Promise<void> {
  const { stub } = given
  stub.behave(cell)
  const provider = given.provider(stub.url, patient)
  try {
    const leaving = new AbortController()
    const failed = failureOf(t, given, operation.call(provider, leaving.signal))
    // The promise is awaited below. Until then an early rejection must not count as unhandled.
    failed.catch(() => {})
    await until(() => stub.seen.length > 0, 'no request came')
    if (cell === 'slow_first_byte') await new Promise((resolve) => setTimeout(resolve, 40))
    leaving.abort()
    t.equal((await failed).errorClass, 'cancelled')
    await untilLeft(given)
  } finally {
    await provider.close()
  }
}

/** Reads all items. Returns them with the time until the first. */
export async function timed<T>(source: AsyncIterable<T>): Promise<{ items: T[]; firstMs: number }> {
  const startMs = performance.now()
  const items: T[] = []
  let firstMs = 0
  for await (const item of source) {
    if (items.push(item) === 1) firstMs = performance.now() - startMs
  }
  return { items, firstMs }
}

/** The catalog of the package. */
export const catalog = openCatalog(null)

/** The options for an adapter under test. */
export function vendorOptions(
  id: string,
  apiKey: string,
  baseUrl: string,
  limits: OutboundLimits = outboundDefaults,
): VendorOptions {
  return { id, baseUrl, apiKey, models: null, limits, clock: systemClock, catalog, unavailable: null }
}

/** Returns the error that `work` rejects with. It must be a ProviderError. */
export async function providerErrorOf(work: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await work.then(
    (value) => new Error('it succeeded', { cause: value }),
    (error: unknown) => error,
  )
  if (error instanceof ProviderError) return error
  throw error
}
