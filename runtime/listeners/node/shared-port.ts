/**
 * One port for several processes. node:http in Node 20 cannot set SO_REUSEPORT, unlike uWebSockets.js. So the first
 * process sends its listening socket to the other processes. All processes accept from it, and the kernel gives each
 * connection to a waiting process. When a process ends, waiting connections are not lost.
 */
import type { ChildProcess } from 'node:child_process'
import type { Server } from 'node:net'
import type { Clock } from '../../engine/options.ts'

/** Sends the listening socket to the child each time the child asks. A child asks again when it restarts its server. */
export function sharePort(child: ChildProcess, server: Server): void {
  child.on('message', (message) => {
    // If the child has just ended, sending fails. Without the callback the failure would end this process.
    if (message === question) child.send(answer, server, () => {})
  })
}

/**
 * Resolves with the listening socket from the parent, which must be the first process. Rejects if the parent does not
 * share it. This process then ends, and a living parent restarts it.
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
      // Before the server runs, no other code reads the parent's messages. Any other message is the parent's order to
      // end.
      if (message !== answer) return settle('ends')
      // If the parent's server no longer listens, `server` is undefined.
      settle('has closed its port', server)
    }
    const leave = () => settle('has gone')
    const cancel = clock.after(joinMs, () => settle(`did not share its port within ${joinMs / 1000} s`))
    process.on('message', listen)
    process.once('disconnect', leave)
    if (!process.connected) return leave()
    // If sending fails, the event 'disconnect' follows, so the error is ignored here.
    process.send?.(question, undefined, undefined, () => {})
  })
}

const question = 'which port?'
const answer = 'this port'
/** The longest wait for the parent's answer: the parent may still be starting. */
const joinMs = 10_000
