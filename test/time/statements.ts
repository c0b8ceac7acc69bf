/**
 * Counts this process's pending work at Postgres, by reading its protocol (version 3) on the sockets. Each start-up,
 * simple query and Sync is answered by a ReadyForQuery, a Flush by a description, a Terminate by the connection's end.
 * After a notifying statement's answer, a NotificationResponse follows on each listening connection.
 */
import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Listeners } from './listeners.ts'
import { Messages } from './postgres-messages.ts'

export type Statements = {
  /** Counts the messages sent so far. */
  readonly count: number
  /** Counts unanswered messages, plus notifications that statements still owe. */
  readonly pending: number
  /** Resolves when the next message has come. */
  over(): Promise<void>
}

const startUp = '\0'
const asking = [startUp, 'Q', 'S', 'H', 'X']

export function watchStatements(prototype: Socket): Statements {
  const { connect } = prototype as unknown as Record<'connect', (...target: unknown[]) => Socket>
  const state = { count: 0, pending: 0 }
  const listeners = new Listeners(() => performance.now())
  const waiting: (() => void)[] = []
  const came = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  prototype.connect = function (this: Socket, ...target: unknown[]) {
    Reflect.apply(connect, this, target)
    // Node's `connect` sets `write` to the prototype's method again, so `watch` must replace `write` afterwards.
    if (isPostgres(target)) watch(this)
    return this
  }

  function watch(socket: Socket): void {
    const listener = listeners.open()
    let pending = 0
    let descriptions = 0
    const add = (change: number) => {
      pending += change
      state.pending += change
      if (change > 0) state.count += change
    }
    const sent = new Messages('client', (type, body) => {
      if (asking.includes(type)) add(1)
      if (type === 'H') descriptions += 1
      listener.sent(type, body)
    })
    const answered = new Messages('server', (type, body) => {
      // The driver requests nothing else after a description, so an error also answers it.
      const isDescription = descriptions > 0 && (type === 't' || type === 'E')
      if (isDescription) descriptions -= 1
      if (isDescription || (type === 'Z' && pending > 0)) add(-1)
      if (type === 'A') listener.notified(body)
    })
    const { write } = socket as unknown as Record<'write', (...written: unknown[]) => boolean>
    socket.write = function (this: Socket, ...written: unknown[]) {
      sent.push(written[0] as Buffer)
      return Reflect.apply(write, this, written)
    }
    socket.on('data', (bytes: Buffer) => {
      answered.push(bytes)
      came()
    })
    socket.once('close', () => {
      add(-pending)
      listener.close()
      came()
    })
  }

  return {
    get count() {
      return state.count
    },
    get pending() {
      return state.pending + listeners.awaited
    },
    over: () =>
      new Promise((resolve) => {
        const late = state.pending === 0 ? setTimeout(resolve, listeners.leftMs) : undefined
        waiting.push(() => {
          clearTimeout(late)
          resolve()
        })
      }),
  }
}

/** `connect` is called with a path, a port and a host, or an object with these. */
function isPostgres(target: readonly unknown[]): boolean {
  return /\.s\.PGSQL\.\d+/.test(JSON.stringify(target.filter((each) => typeof each !== 'function')))
}
