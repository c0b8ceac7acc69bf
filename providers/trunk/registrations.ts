/**
 * This process's registrations at trunks: one for each connection with the setting `register`. Reads the connections
 * again every 10 s to find changes.
 */
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { plainAddress } from './address.ts'
import { isSameRegistration, Registration, type RegistrationDeps, type RegistrationFailure } from './registration.ts'

export type RegistrationsDeps = Omit<RegistrationDeps, 'answered'> & {
  connections: Pick<SipConnections, 'registering' | 'noteRegistration'>
  clock: Clock
  log: Log
}

const everyMs = 10_000

export class Registrations {
  readonly #deps: RegistrationsDeps
  readonly #open = new Map<string, Registration>()
  /** The last logged failure for each connection id. */
  readonly #failures = new Map<string, RegistrationFailure>()
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

  /** Returns the connections registered at this trunk address, if they accept incoming calls. */
  at(address: string): readonly SipConnection[] {
    return [...this.#open.values()]
      .filter((registration) => registration.address === plainAddress(address))
      .map(({ connection }) => connection)
      .filter(({ inbound }) => inbound !== null)
  }

  /** Removes all registrations at their trunks. */
  close(): void {
    this.#isClosed = true
    this.#cancel()
    for (const registration of this.#open.values()) registration.end()
    this.#open.clear()
  }

  async #look(): Promise<void> {
    const connections = await this.#deps.connections.registering()
    if (this.#isClosed) return
    const byId = new Map(connections.map((connection) => [connection.id, connection]))
    for (const [id, registration] of this.#open) {
      const connection = byId.get(id)
      if (connection !== undefined && isSameRegistration(connection, registration.connection)) byId.delete(id)
      else this.#end(id, registration)
    }
    for (const [id, connection] of byId)
      this.#open.set(
        id,
        new Registration(connection, { ...this.#deps, answered: (of, failure) => this.#answered(of, failure) }),
      )
  }

  #end(id: string, registration: Registration): void {
    this.#open.delete(id)
    this.#failures.delete(id)
    registration.end()
  }

  #answered({ id }: SipConnection, failure: RegistrationFailure | null): void {
    const { connections, log } = this.#deps
    this.#warn(id, failure)
    connections.noteRegistration(id, failure === null).catch((err: unknown) => {
      log.warn({ err }, 'the answer of a trunk to a registration was not noted')
    })
  }

  /** Logs a failure only if it changed, because a wrong login is refused again every few minutes. */
  #warn(connectionId: string, failure: RegistrationFailure | null): void {
    const { log } = this.#deps
    if (failure === null) {
      if (this.#failures.delete(connectionId)) log.info({ connectionId }, 'a trunk takes the registration again')
      return
    }
    if (this.#failures.get(connectionId) === failure) return
    this.#failures.set(connectionId, failure)
    if (failure === 'no_address')
      log.warn(
        { connectionId },
        'the host of a trunk has no address that may be called, so nothing is registered there',
      )
    else if (failure === 'no_answer') log.warn({ connectionId }, 'a trunk does not answer the registration')
    else log.warn({ connectionId, code: failure }, 'a trunk refuses the registration')
  }
}
