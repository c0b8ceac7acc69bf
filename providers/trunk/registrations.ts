/** The registrations of this process: one for each connection that wants it. Changes of the connections are looked for again and again. */
import type { SipConnection, SipConnections } from '../../domain/ports/sip-connections.ts'
import type { Clock, Log } from '../../domain/ports/system.ts'
import { plainAddress } from './address.ts'
import { isSameRegistration, Registration, type RegistrationDeps } from './registration.ts'

export type RegistrationsDeps = Omit<RegistrationDeps, 'answered'> & {
  connections: Pick<SipConnections, 'registering' | 'looked'>
  clock: Clock
  log: Log
}

const everyMs = 10_000

export class Registrations {
  readonly #deps: RegistrationsDeps
  readonly #open = new Map<string, Registration>()
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
        new Registration(connection, { ...this.#deps, answered: (of, isTaken) => this.#answered(of, isTaken) }),
      )
  }

  #end(id: string, registration: Registration): void {
    this.#open.delete(id)
    registration.end()
  }

  #answered({ id }: SipConnection, isTaken: boolean): void {
    const { connections, log } = this.#deps
    connections.looked(id, isTaken).catch((err: unknown) => {
      log.warn({ err }, 'the answer of a trunk to a registration was not noted')
    })
  }
}
