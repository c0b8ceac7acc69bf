/**
 * One port for several processes. node:http of Node 20 cannot set SO_REUSEPORT, as uWebSockets.js does, so the first
 * process hands its listening socket to the others. All accept from it, and the kernel gives each connection to one that
 * waits. A process that ends takes no waiting connections with it.
 */
import type { ChildProcess } from 'node:child_process'
import type { Server } from 'node:net'
import type { Clock } from '../../engine/options.ts'

/** Answers the child whenever it asks, also after a restart of its server. */
export function sharePort(child: ChildProcess, server: Server): void {
  child.on('message', (message) => {
    // A child that has just ended cannot be reached. Without the callback that would end this process.
    if (message === question) child.send(answer, server, () => {})
  })
}

/**
 * Resolves with the listening socket of the parent, which must be the first process. Rejects when the parent does not
 * share it: this process then ends, and a parent that lives starts it again.
 */
export function joinPort(clock: Clock): Promise<Server> {
  return new Promise((resolve, reject) => {
    const settle = (problem: string | null, server?: Server) => {
      cancel()
      process.off('message', listen)
      process.off('disconnect', leave)
      if (server) resolve(server)
      else reject(new Error(`cannot listen: the first process ${problem}`))
    }
    const listen = (message: unknown, server: Server | undefined) => {
      // Only an order to end comes before the answer. Nobody else would read it.
      if (message !== answer) return settle('ends')
      // A server that listens no more is sent as nothing.
      settle('has closed its port', server)
    }
    const leave = () => settle('has gone')
    const cancel = clock.after(joinMs, () => settle(`did not share its port within ${joinMs / 1000} s`))
    process.on('message', listen)
    process.once('disconnect', leave)
    if (!process.connected) return leave()
    // A failure to send is reported by 'disconnect'.
    process.send?.(question, undefined, undefined, () => {})
  })
}

const question = 'which port?'
const answer = 'this port'
/** The parent may be busy with its own start. */
const joinMs = 10_000
