/**
 * One port for several processes. node:http of Node 20 cannot set SO_REUSEPORT, as uWebSockets.js does, so the first
 * process hands its listening socket to the others. All accept from it, and the kernel gives each connection to one that
 * waits. A process that ends takes no waiting connections with it.
 */
import type { ChildProcess } from 'node:child_process'
import type { Server } from 'node:net'

/** Answers the child whenever it asks, also after a restart of its server. */
export function sharePort(child: ChildProcess, server: Server): void {
  child.on('message', (message) => {
    if (message === question) child.send(answer, server)
  })
}

/** Resolves with the listening socket of the parent, which must be the first process. */
export function joinPort(): Promise<Server> {
  return new Promise((resolve, reject) => {
    if (!process.send) return reject(new Error('no parent process has a port to share'))
    const listen = (message: unknown, server: unknown) => {
      if (message !== answer) return
      process.off('message', listen)
      resolve(server as Server)
    }
    process.on('message', listen)
    process.send(question)
  })
}

const question = 'which port?'
const answer = 'this port'
