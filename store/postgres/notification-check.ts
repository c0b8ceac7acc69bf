/**
 * Checks that notifications of the database arrive. The listening connection may be silent for ever: a firewall has
 * dropped it, or a connection pooler gives each statement another connection. So this process regularly notifies
 * itself. If the notification does not arrive, the connection is closed. Then the driver listens on a new connection,
 * and everything is read again as after a missed notification, for example the credentials of open sockets.
 */
import type { Log } from '../../domain/ports/system.ts'
import { systemClock, within } from '../../runtime/timing/clock.ts'
import type { Pools } from './connect.ts'
import { guard, isAway } from './outage.ts'

export type NotificationCheck = {
  /** Resolves as soon as the notifications for the check arrive. */
  listen(): Promise<void>
  /** Makes one check. An outage needs no check, because all silent connections are closed after it. */
  check(): Promise<void>
}

/** A notification usually arrives within milliseconds. The wait uses the machine's clock, as Postgres does. */
const arrivalMs = 2_000

export function createNotificationCheck(
  { system, sockets }: Pick<Pools, 'system' | 'sockets'>,
  instanceId: string,
  log: Log,
): NotificationCheck {
  const channel = `parley_check_${instanceId}`
  let arrived = () => {}

  async function check(): Promise<void> {
    if (isAway(system)) return
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve
    })
    await guard(system, { run: async () => system`select pg_notify(${channel}, '')` })
    try {
      await within(systemClock, arrivalMs, arrival, `no notification within ${arrivalMs} ms`)
    } catch (err) {
      log.warn({ err }, 'notifications of the database do not arrive: this process listens on a new connection')
      sockets.destroyListening()
    }
  }

  return {
    async listen() {
      await system.listen(channel, () => arrived())
    },
    check,
  }
}
