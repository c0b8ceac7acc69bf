/**
 * The notifications that Postgres still owes to this process's connections. A statement calls pg_notify with the
 * channel and the payload as parameters. Each connection listening on the channel, in the same database, is owed a
 * NotificationResponse. Postgres sends it some time after the statement's answer.
 *
 * Equal notifications from one transaction come once. After a rollback, or if pg_notify ran for no row, no notification
 * comes.
 */

/** If a notification does not come within this time, it was not sent. */
const noticeMs = 10_000

type Notice = { parameters: string; untilMs: number }
type Connection = { database: string; channels: Set<string>; owed: Notice[] }

export type Listener = {
  /** Receives each message that the client has sent. */
  sent(type: string, body: string): void
  /** Receives the body of each NotificationResponse. */
  notified(body: string): void
  close(): void
}

export class Listeners {
  readonly #nowMs: () => number
  /** Connections that listen to a channel. */
  readonly #connections = new Set<Connection>()

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Counts the owed notifications. */
  get awaited(): number {
    let count = 0
    for (const connection of this.#connections) {
      if (connection.owed.length === 0) continue
      const nowMs = this.#nowMs()
      connection.owed = connection.owed.filter(({ untilMs }) => untilMs > nowMs)
      count += connection.owed.length
    }
    return count
  }

  /** Returns the time until the next owed notification counts as not sent. */
  get leftMs(): number {
    const untilMs = [...this.#connections].flatMap(({ owed }) => owed.map((notice) => notice.untilMs))
    return Math.max(0, Math.min(...untilMs) - this.#nowMs())
  }

  /** Starts to watch one connection. */
  open(): Listener {
    const connection: Connection = { database: '', channels: new Set(), owed: [] }
    /** The names of notifying prepared statements. */
    const notifying = new Set<string>()
    return {
      sent: (type, body) => {
        const [first = '', second = ''] = body.split('\0', 2)
        if (type === '\0') connection.database = /\0database\0([^\0]*)/.exec(body)?.[1] ?? ''
        if (type === 'P' && second.includes('pg_notify')) notifying.add(first)
        else if (type === 'P') notifying.delete(first)
        if (type === 'B' && notifying.has(second)) this.#owe(connection.database, body)
        const channel = /^listen "?([^"]+)/i.exec(type === 'P' ? second : first)?.[1]
        if (channel === undefined || (type !== 'P' && type !== 'Q')) return
        connection.channels.add(channel)
        this.#connections.add(connection)
      },
      notified: (body) => {
        const [channel = '', payload = ''] = body.slice(pidBytes).split('\0')
        const isOther = ({ parameters }: Notice) => !parameters.includes(channel) || !parameters.includes(payload)
        connection.owed = connection.owed.filter(isOther)
      },
      close: () => void this.#connections.delete(connection),
    }
  }

  #owe(database: string, parameters: string): void {
    const notice = { parameters, untilMs: this.#nowMs() + noticeMs }
    for (const { owed, channels, database: own } of this.#connections)
      if (own === database && [...channels].some((channel) => parameters.includes(channel))) owed.push(notice)
  }
}

/** In a notification the sender's process id comes before the channel. */
const pidBytes = 4
