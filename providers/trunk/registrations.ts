/** The registrations of this process: one for each connection that wants it. Changes of the connections are looked for again and again. */
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { plainAddress } from './address.ts'
import { isSameRegistration, type Refusal, Registration, type RegistrationDeps } from './registration.ts'

export type RegistrationsDeps = Omit<RegistrationDeps, 'answered'> & {
  connections: Pick<SipConnections, 'registering' | 'registered'>
  clock: Clock
  log: Log
}

const everyMs = 10_000

export class Registrations {
  readonly #deps: RegistrationsDeps
  readonly #open = new Map<string, Registration>()
  /** By connection: the code that the log names already, and null for silence. */
  readonly #refused = new Map<string, number | null>()
  #cancel = () => {}
  #isClosed = false

  constructor(deps: RegistrationsDeps) {
    this.#deps = deps
  }

  open(): void {
    this.#look()
      .catch((err: unknown) => this.#deps.log.warn({ err }, 'the SIP connections that register could not be read'))
      .finally(() => {
        if (!this.#isClosed) this.#cancel = this.#deps.clock.after(everyMs, () => this.open())
      })
  }

  /** The connections that are registered at the address, and take calls. */
  at(address: string): readonly SipConnection[] {
    return [...this.#open.values()]
      .filter((registration) => registration.address === plainAddress(address))
      .map(({ connection }) => connection)
      .filter(({ inbound }) => inbound !== null)
  }

  /** Takes all registrations back. */
  close(): void {
    this.#isClosed = true
    this.#cancel()
    for (const registration of this.#open.values()) registration.end()
    this.#open.clear()
  }

  async #look(): Promise<void> {
    const wanted = await this.#deps.connections.registering()
    if (this.#isClosed) return
    const byId = new Map(wanted.map((connection) => [connection.id, connection]))
    for (const [id, registration] of this.#open) {
      const connection = byId.get(id)
      if (connection !== undefined && isSameRegistration(connection, registration.connection)) byId.delete(id)
      else this.#end(id, registration)
    }
    for (const [id, connection] of byId)
      this.#open.set(
        id,
        new Registration(connection, { ...this.#deps, answered: (of, refusal) => this.#answered(of, refusal) }),
      )
  }

  #end(id: string, registration: Registration): void {
    this.#open.delete(id)
    this.#refused.delete(id)
    registration.end()
  }

  #answered({ id }: SipConnection, refusal: Refusal | null): void {
    const { connections, log } = this.#deps
    this.#warn(id, refusal)
    connections.registered(id, refusal === null).catch((err: unknown) => {
      log.warn({ err }, 'the answer of a trunk to a registration was not noted')
    })
  }

  /** A login that is wrong is refused again every few minutes, so only the change is logged. */
  #warn(connectionId: string, refusal: Refusal | null): void {
    const { log } = this.#deps
    if (refusal === null) {
      if (this.#refused.delete(connectionId)) log.info({ connectionId }, 'a trunk takes the registration again')
      return
    }
    const { code } = refusal
    if (this.#refused.get(connectionId) === code) return
    this.#refused.set(connectionId, code)
    if (code === null) log.warn({ connectionId }, 'a trunk does not answer the registration')
    else log.warn({ connectionId, code }, 'a trunk refuses the registration')
  }
}
