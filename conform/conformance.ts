/** One run against a server: its documents, its answers so far, and the API keys for the requests. */

import { type Answered, placeOf } from './answer.ts'
import { answerChecks } from './answer-checks.ts'
import type { Channel, Operation } from './contract.ts'
import { usualPrefix } from './header-prefix.ts'
import type { Http, Received, Sent } from './http.ts'
import type { Limits } from './limits.ts'
import type { Found, Results } from './results.ts'
import type { Surface } from './surfaces.ts'
import { Talk } from './talk.ts'

export type Keys = {
  key: string
  /** A test key: its numbers, calls and messages are simulated. */
  testKey: string | null
  /** A key without the operations' scopes. */
  keyOfLesserScope: string | null
}

export class Conformance {
  /** Request ids so far, to find a repeated id. */
  readonly requestIds = new Set<string>()
  readonly http: Http
  readonly results: Results
  readonly surfaces: ReadonlyMap<string, Surface>
  readonly keys: Keys
  readonly limits: Limits
  readonly #spends: boolean

  constructor(given: Pick<Conformance, 'http' | 'results' | 'surfaces' | 'keys' | 'limits'> & { spends: boolean }) {
    this.http = given.http
    this.results = given.results
    this.surfaces = given.surfaces
    this.keys = given.keys
    this.limits = given.limits
    this.#spends = given.spends
  }

  get operations(): Operation[] {
    return [...this.surfaces.values()].flatMap(({ operations }) => operations)
  }

  operation(id: string): Operation | null {
    return this.operations.find((operation) => operation.id === id) ?? null
  }

  get channels(): Channel[] {
    return [...this.surfaces.values()].flatMap(({ channels }) => channels)
  }

  channel(id: string): Channel | null {
    return this.channels.find((channel) => channel.id === id) ?? null
  }

  /** The prefix in this server's header names. All its documents have the same prefix. */
  get headerPrefix(): string {
    const [first] = this.surfaces.values()
    return first?.headerPrefix ?? usualPrefix
  }

  surface(name: string): Surface {
    const surface = this.surfaces.get(name)
    if (surface === undefined) throw new Error(`there is no document ${name}`)
    return surface
  }

  /** Returns the key for an operation's requests. Null if the operation needs `--spend` or a test key. */
  keyFor(operation: Operation): string | null {
    const { key, testKey } = this.keys
    if (this.usesTestKey(operation)) return testKey
    return this.#spends || !(spending.has(operation.id) || settings.has(operation.id)) ? key : null
  }

  /** Returns true if the operation's requests use the test key. */
  usesTestKey({ id }: Operation): boolean {
    return this.keys.testKey !== null && spending.has(id)
  }

  /** Sends a request and checks its answer. */
  async send(operation: Operation, sent: Sent): Promise<Received> {
    const received = await this.http.send(sent)
    const { requestIds } = this
    const answer = { surface: this.surface(operation.surface), operation, sent, received, requestIds }
    for (const { number, judge } of answerChecks) this.results.record(operation.id, number, judgement(judge, answer))
    return received
  }

  /** Opens a socket at a path. */
  connect(path: string, protocols: readonly string[], headers: Readonly<Record<string, string>>): Talk {
    const { frameMs } = this.limits
    return new Talk(this.http.url.replace(/^http/, 'ws') + path, protocols, headers, {
      frameMs,
      ended: this.http.ended,
    })
  }
}

/** Applies a check to an answer. If the check cannot read the answer, this is a fault too. */
function judgement(judge: (answered: Answered) => Found, answered: Answered): Found {
  try {
    return judge(answered)
  } catch (error) {
    return [`${placeOf(answered)}: the check cannot be made: ${(error as Error).message}`]
  }
}

/** These operations spend money. Test keys simulate them. */
const spending: ReadonlySet<string> = new Set([
  'createPhoneSession',
  'transferCallBlind',
  'transferCallWarm',
  'completeTransfer',
  'cancelTransfer',
  'dispatchCallback',
  'purchasePhoneNumber',
  'saveSmsBrand',
  'submitSmsBrand',
  'orderSmsBrandVetting',
  'saveSmsCampaign',
  'submitSmsCampaign',
  'assignSmsNumber',
  'unassignSmsNumber',
  'sendAgentMessage',
  'sendNumberMessage',
  'callFromRmsgNumber',
])

/** These operations replace the organization's settings. Test keys cannot change them. */
const settings: ReadonlySet<string> = new Set([
  'updateOrganization',
  'cancelCallback',
  'putProviderKey',
  'deleteProviderKey',
  'rotateWebhookSecret',
  'saveBusinessVerificationDraft',
  'submitBusinessVerification',
  'putRmsgSubscription',
  'deleteRmsgSubscriptions',
  'deleteRmsgSubscription',
])

export const spendReason = 'it spends money or replaces settings; --spend allows it, and --test-key simulates calls'
